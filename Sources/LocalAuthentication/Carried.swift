// SPDX-License-Identifier: Apache-2.0

/// Carries a context or a right to another thread.
///
/// Both lock what changes in them, and neither is Sendable on Apple systems (behaviour LA-43).
struct Carried<Value>: @unchecked Sendable {
    // The reason is above: only contexts and rights are put in here.
    let value: Value
}
