// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import Testing

@testable import LatchkeyAuthority

/// The value of a typed passcode is held for a short time only.
@Suite struct PasscodeValuesTests {
    private let clock = VirtualClock()
    private let values: ExpiringTable<[UInt8], SecretBytes>
    private static let value = SecretBytes([1, 2, 3])

    init() {
        values = ExpiringTable(clock: clock, seconds: Limits.passcodeValueSeconds, limit: KeyGrants.limit)
    }

    private func hold(_ key: [UInt8]) { #expect(values.store(Self.value, for: key, evictsOldest: true)) }

    @Test func aValueIsHeldForItsTimeAndNoLonger() {
        hold([1])
        clock.advance(seconds: 100)
        hold([2])
        clock.advance(seconds: Limits.passcodeValueSeconds - 101)
        #expect(values.value(for: [1]) == Self.value && values.value(for: [2]) == Self.value)
        clock.advance(seconds: 1)
        #expect(values.value(for: [1]) == nil && values.value(for: [2]) == Self.value)
        // The alarm for the second value comes later; it is refused in time.
        clock.advance(seconds: 100)
        #expect(values.value(for: [2]) == nil)
    }

    @Test func anOldValueIsWiped() {
        hold([1])
        clock.advance(seconds: 1)
        hold([2])
        for _ in 0..<2 { clock.advance(seconds: Limits.passcodeValueSeconds) }
        #expect(values.count == 0)
        hold([3])
        clock.advance(seconds: Limits.passcodeValueSeconds)
        #expect(values.count == 0, "an alarm was set again")
    }

    @Test func thereAreNoMoreValuesThanGrants() {
        for number in 0...KeyGrants.limit { hold([UInt8(number & 255), UInt8(number >> 8)]) }
        #expect(values.value(for: [0, 0]) == nil)
        #expect(values.value(for: [0, 1]) == Self.value)
        values.take([0, 1])
        #expect(values.value(for: [0, 1]) == nil)
        values.removeAll()
        #expect(values.count == 0)
    }
}
