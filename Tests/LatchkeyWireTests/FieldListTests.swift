// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LatchkeyWire

/// A field list that is wrong ends the first test that encodes or decodes a message of its type.
///
/// `FieldOrder` checks a field before its value is looked at, so the samples of `RoundTripTests.everyCaseHasASample` reach
/// every list, and reach it completely.
@Suite struct FieldListTests {
    @Test func numbersInAscendingOrderAreAccepted() async {
        await #expect(processExitsWith: .success) {
            _ = written { Listed<InOrder>(first: 1, second: nil).write(to: &$0) }
        }
    }

    @Test func aNumberThatIsListedTwiceEndsTheEncoding() async {
        await #expect(processExitsWith: .failure) {
            _ = written { Listed<Twice>(first: 1, second: nil).write(to: &$0) }
        }
    }

    @Test func aNumberThatIsListedOutOfOrderEndsTheEncoding() async {
        await #expect(processExitsWith: .failure) {
            _ = written { Listed<Descending>(first: 1, second: nil).write(to: &$0) }
        }
    }

    @Test func aNumberThatIsListedOutOfOrderEndsTheDecoding() async {
        await #expect(processExitsWith: .failure) {
            _ = try read([0xa1, 0x01, 0x00]) { (reader) throws(WireError) in try Listed<Descending>(from: &reader) }
        }
    }

    @Test func anItemThatIsLeftOutOfAnArrayEndsTheEncoding() async {
        await #expect(processExitsWith: .failure) { _ = written { Gap(item: 1).write(to: &$0) } }
    }

    /// The head of a map or an array is one byte.
    @Test func moreThan23FieldsEndTheEncoding() async {
        await #expect(processExitsWith: .success) { _ = written { Long<Fields23>(value: 1).write(to: &$0) } }
        await #expect(processExitsWith: .failure) { _ = written { Long<Fields24>(value: 1).write(to: &$0) } }
    }
}

// MARK: - Messages with such lists

private protocol Numbers { static var numbers: (first: UInt64, second: UInt64) { get } }
private enum InOrder: Numbers { static var numbers: (first: UInt64, second: UInt64) { (0, 1) } }
private enum Twice: Numbers { static var numbers: (first: UInt64, second: UInt64) { (1, 1) } }
private enum Descending: Numbers { static var numbers: (first: UInt64, second: UInt64) { (1, 0) } }

private struct Listed<Order: Numbers>: WireMap {
    var first: UInt64
    /// Absent, so the number is checked although no entry is written for it.
    var second: UInt64?

    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            first: try map.field(Order.numbers.first, \.first),
            second: try map.optional(Order.numbers.second, \.second))
    }
}

private struct Gap: WireTuple {
    var item: UInt64

    static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(item: try tuple.field(1, \.item))
    }
}

private protocol FieldCount { static var count: UInt64 { get } }
private enum Fields23: FieldCount { static var count: UInt64 { 23 } }
private enum Fields24: FieldCount { static var count: UInt64 { 24 } }

private struct Long<Fields: FieldCount>: WireMap {
    var value: UInt64

    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        var last: UInt64 = 0
        for number in 0..<Fields.count { last = try map.field(number, \.value) }
        return Self(value: last)
    }
}
