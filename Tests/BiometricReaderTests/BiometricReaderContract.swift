// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization
import Testing

/// The contract of `BiometricReader`, which every driver must fulfil.
@Suite struct BiometricReaderContract {
    @Test(arguments: Driver.all) func aMatchNamesTheEnrolmentSetAndTheKindOfTheSensor(_ driver: Driver) throws {
        let (reader, events) = (try driver.make(), Events())
        let state = reader.state()
        let set = try #require(state.enrolment)
        reader.arm(1, events.add)
        #expect(events.all.isEmpty, "arming alone reports nothing")
        reader.touch(true)
        #expect(events.all == [.match(set, isVirtual: state.isVirtual)])
    }

    @Test(arguments: Driver.strong) func eachTouchOfAnotherFingerIsReported(_ driver: Driver) throws {
        let (reader, events) = (try driver.make(), Events())
        reader.arm(1, events.add)
        reader.touch(false)
        reader.touch(false)
        #expect(events.all == [.noMatch, .noMatch])
    }

    @Test(arguments: Driver.all) func aSensorThatIsNotArmedReportsNothing(_ driver: Driver) throws {
        let (reader, events) = (try driver.make(), Events())
        reader.touch(true)
        reader.arm(1, events.add)
        #expect(events.all.isEmpty, "an earlier touch does not count")
        reader.disarm(1)
        reader.touch(true)
        #expect(events.all.isEmpty)
    }

    @Test(arguments: Driver.all) func disarmingEndsOnlyTheScanOfThatEvaluation(_ driver: Driver) throws {
        let (reader, events) = (try driver.make(), Events())
        reader.arm(2, events.add)
        reader.disarm(1)
        reader.touch(false)
        #expect(events.all == [.noMatch])
    }

    @Test(arguments: Driver.all) func aFailureIsReported(_ driver: Driver) throws {
        let (reader, events) = (try driver.make(), Events())
        reader.arm(1, events.add)
        reader.fail()
        #expect(events.all == [.failed])
    }

    @Test(arguments: Driver.strong) func aChangeOfTheEnrolmentIsObservedAndChangesTheSet(_ driver: Driver) throws {
        let reader = try driver.make()
        let seen = Mutex<[EnrolmentSet?]>([])
        reader.observe { seen.withLock { $0.append(reader.state().enrolment) } }
        let before = try #require(reader.state().enrolment)
        try reader.replaceFinger()
        let after = try #require(reader.state().enrolment)
        #expect(after != before)
        #expect(seen.withLock { $0 } == [after], "the observer reads the new state")
        let events = Events()
        reader.arm(1, events.add)
        reader.touch(true)
        #expect(events.all == [.match(after, isVirtual: reader.state().isVirtual)])
    }

    @Test(arguments: Driver.all) func aSensorSaysWhetherItIsWeak(_ driver: Driver) throws {
        #expect(try driver.make().state().isWeak == driver.isWeak)
    }
}
