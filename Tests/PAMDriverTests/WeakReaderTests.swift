// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SensorTestSupport
import TestSupport
import Testing

/// What drivers of weak sensors fulfil in place of the continuous scans and the changing sets of the contract.
@Suite struct WeakReaderTests {
    @Test(arguments: ReaderDriver.all.filter(\.isWeak)) func aScanOfAWeakSensorEndsWithItsEventAndTheNextOneIsItsOwn(
        _ driver: ReaderDriver
    ) throws {
        let (reader, events) = (try driver.make(), Recorder<SensorEvent>())
        let state = reader.state()
        #expect(!state.reportsEnrolmentChanges)
        reader.arm(1, events.add)
        reader.touch(false)
        reader.disarm(1)
        reader.arm(1, events.add)
        reader.touch(true)
        #expect(events.all == [.noMatch, .match(try #require(state.enrolment), isVirtual: false)])
    }
}
