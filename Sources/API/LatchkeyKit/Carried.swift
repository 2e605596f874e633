// SPDX-License-Identifier: Apache-2.0

/// Moves a value of a type that is not Sendable to another thread.
///
/// Use it only for contexts: `LAContext` is safe to use from any thread, but is not declared Sendable.
struct Carried<Value>: @unchecked Sendable {
    // The reason is above: only values of types that are safe to use from any thread are wrapped.
    let value: Value
}
