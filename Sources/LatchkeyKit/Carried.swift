// SPDX-License-Identifier: Apache-2.0

/// Moves a value of a type that is not Sendable to another thread.
///
/// Only for contexts: `LAContext` may be used from any thread, but its declaration does not say so.
struct Carried<Value>: @unchecked Sendable {
    // The reason is above: only values of types that are safe to use from any thread are wrapped.
    let value: Value
}
