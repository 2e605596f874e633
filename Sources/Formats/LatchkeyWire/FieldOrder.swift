// SPDX-License-Identifier: Apache-2.0

/// Asserts, in debug builds, that a field list names each number once and in ascending order.
///
/// A field is checked even if its value is nil, so encoding one message of a type checks its whole list. The tests encode
/// a sample of each type (`RoundTripTests.everyCaseHasASample`).
struct FieldOrder {
    private var least: UInt64 = 0

    /// Items of an array that were checked.
    var count: Int { Int(least) }

    @inline(__always) mutating func check(_ number: UInt64) {
        assert(number >= least, "field \(number) is listed after field \(least - 1)")
        least = number + 1
    }

    /// Checks the next item of an array, where no number may be left out.
    @inline(__always) mutating func checkItem(_ number: UInt64) {
        assert(number == least, "item \(number) is listed as item \(least)")
        least += 1
    }
}
