// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TestSupport
import Testing

/// The contract of `BiometricReader`, which every driver must fulfil: the test target of a driver checks each case.
package enum BiometricReaderContract: String, CaseIterable, CustomTestStringConvertible {
    case aMatchNamesTheEnrolmentSetAndTheKindOfTheSensor
    case eachTouchOfAnotherFingerIsReported
    case aSensorThatIsNotArmedReportsNothing
    case disarmingEndsOnlyTheScanOfThatEvaluation
    case aFailureIsReported
    case aChangeOfTheEnrolmentIsObservedAndChangesTheSet
    case aSensorSaysWhetherItIsWeak

    package var testDescription: String { rawValue }

    /// Checks one case with a new reader. A weak sensor scans once, and its enrolment set never changes.
    package func check(_ driver: ReaderDriver) throws {
        if driver.isWeak,
            [.eachTouchOfAnotherFingerIsReported, .aChangeOfTheEnrolmentIsObservedAndChangesTheSet].contains(self)
        {
            return
        }
        switch self {
        case .aMatchNamesTheEnrolmentSetAndTheKindOfTheSensor:
            try Self.aMatchNamesTheEnrolmentSetAndTheKindOfTheSensor(driver)
        case .eachTouchOfAnotherFingerIsReported: try Self.eachTouchOfAnotherFingerIsReported(driver)
        case .aSensorThatIsNotArmedReportsNothing: try Self.aSensorThatIsNotArmedReportsNothing(driver)
        case .disarmingEndsOnlyTheScanOfThatEvaluation: try Self.disarmingEndsOnlyTheScanOfThatEvaluation(driver)
        case .aFailureIsReported: try Self.aFailureIsReported(driver)
        case .aChangeOfTheEnrolmentIsObservedAndChangesTheSet:
            try Self.aChangeOfTheEnrolmentIsObservedAndChangesTheSet(driver)
        case .aSensorSaysWhetherItIsWeak: try Self.aSensorSaysWhetherItIsWeak(driver)
        }
    }

    private static func aMatchNamesTheEnrolmentSetAndTheKindOfTheSensor(_ driver: ReaderDriver) throws {
        let (reader, events) = (try driver.make(), Recorder<SensorEvent>())
        let state = reader.state()
        let set = try #require(state.enrolment)
        reader.arm(1, events.add)
        #expect(events.all.isEmpty, "arming alone reports nothing")
        reader.touch(true)
        #expect(events.all == [.match(set, isVirtual: state.isVirtual)])
    }

    private static func eachTouchOfAnotherFingerIsReported(_ driver: ReaderDriver) throws {
        let (reader, events) = (try driver.make(), Recorder<SensorEvent>())
        reader.arm(1, events.add)
        reader.touch(false)
        reader.touch(false)
        #expect(events.all == [.noMatch, .noMatch])
    }

    private static func aSensorThatIsNotArmedReportsNothing(_ driver: ReaderDriver) throws {
        let (reader, events) = (try driver.make(), Recorder<SensorEvent>())
        reader.touch(true)
        reader.arm(1, events.add)
        #expect(events.all.isEmpty, "an earlier touch does not count")
        reader.disarm(1)
        reader.touch(true)
        #expect(events.all.isEmpty)
    }

    private static func disarmingEndsOnlyTheScanOfThatEvaluation(_ driver: ReaderDriver) throws {
        let (reader, events) = (try driver.make(), Recorder<SensorEvent>())
        reader.arm(2, events.add)
        reader.disarm(1)
        reader.touch(false)
        #expect(events.all == [.noMatch])
    }

    private static func aFailureIsReported(_ driver: ReaderDriver) throws {
        let (reader, events) = (try driver.make(), Recorder<SensorEvent>())
        reader.arm(1, events.add)
        reader.fail()
        #expect(events.all == [.failed])
    }

    private static func aChangeOfTheEnrolmentIsObservedAndChangesTheSet(_ driver: ReaderDriver) throws {
        let reader = try driver.make()
        let seen = Recorder<EnrolmentSet?>()
        reader.observe { seen.add(reader.state().enrolment) }
        let before = try #require(reader.state().enrolment)
        try reader.replaceFinger()
        let after = try #require(reader.state().enrolment)
        #expect(after != before)
        #expect(seen.all == [after], "the observer reads the new state")
        let events = Recorder<SensorEvent>()
        reader.arm(1, events.add)
        reader.touch(true)
        #expect(events.all == [.match(after, isVirtual: reader.state().isVirtual)])
    }

    private static func aSensorSaysWhetherItIsWeak(_ driver: ReaderDriver) throws {
        #expect(try driver.make().state().isWeak == driver.isWeak)
    }
}
