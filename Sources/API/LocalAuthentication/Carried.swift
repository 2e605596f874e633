// SPDX-License-Identifier: Apache-2.0

/// Moves a context or a right to another thread.
///
/// Both protect their mutable state with a lock, but are not Sendable, as on Apple systems (behaviour LA-43).
struct Carried<Value>: @unchecked Sendable {
    // The reason is above: only contexts and rights are wrapped.
    let value: Value
}
