// SPDX-License-Identifier: Apache-2.0

/// Carries a value between threads whose type does not say that it may be.
///
/// For contexts alone: `LAContext` may be used from any thread, and Apple's headers do not tell the compiler so.
struct Carried<Value>: @unchecked Sendable {
    // The reason is above: only values of types that are safe to use from any thread are put in here.
    let value: Value
}
