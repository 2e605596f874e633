// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import SimulatedDriver
import Testing

@testable import LatchkeyAuthority

/// The value of a typed passcode is held for a short time only.
@Suite struct PasscodeValuesTests {
    private let clock = VirtualClock()
    private let values: PasscodeValues
    private static let value = SecretBytes([1, 2, 3])

    init() { values = PasscodeValues(clock: clock) }

    @Test func aValueIsHeldForItsTimeAndNoLonger() {
        values.hold(Self.value, for: [1])
        clock.advance(seconds: 100)
        values.hold(Self.value, for: [2])
        clock.advance(seconds: Limits.passcodeValueSeconds - 101)
        #expect(values.value(for: [1]) == Self.value && values.value(for: [2]) == Self.value)
        clock.advance(seconds: 1)
        #expect(values.value(for: [1]) == nil && values.value(for: [2]) == Self.value)
        // The alarm for the second value comes later; it is refused in time.
        clock.advance(seconds: 100)
        #expect(values.value(for: [2]) == nil)
    }

    @Test func anOldValueIsWiped() {
        values.hold(Self.value, for: [1])
        clock.advance(seconds: 1)
        values.hold(Self.value, for: [2])
        for _ in 0..<2 { clock.advance(seconds: Limits.passcodeValueSeconds) }
        #expect(values.isEmpty)
        values.hold(Self.value, for: [3])
        clock.advance(seconds: Limits.passcodeValueSeconds)
        #expect(values.isEmpty, "an alarm was set again")
    }

    @Test func thereAreNoMoreValuesThanGrants() {
        for number in 0...KeyGrants.limit { values.hold(Self.value, for: [UInt8(number & 255), UInt8(number >> 8)]) }
        #expect(values.value(for: [0, 0]) == nil)
        #expect(values.value(for: [0, 1]) == Self.value)
        values.remove([0, 1])
        #expect(values.value(for: [0, 1]) == nil)
        values.removeAll()
        #expect(values.isEmpty)
    }
}
