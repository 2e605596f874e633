// SPDX-License-Identifier: Apache-2.0

/// A value that only the bus's thread uses.
package struct Confined<Value>: @unchecked Sendable {
    // Sendable: it is made before that thread knows it, and used there afterwards.
    package let value: Value
    package init(_ value: Value) { self.value = value }
}
