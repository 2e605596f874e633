// SPDX-License-Identifier: Apache-2.0

import BusTestSupport
import ChildProcessDrivers
import Foundation
import LatchkeyModel
import LatchkeySeams
import SensorTestSupport
import SystemDriver
import TestSupport
import Testing

extension FprintDriverTests {
    /// The sensor of tier `user` from end to end but for the prompt: `ProcessSensors`, the built `latchkey-authd --user`, and the
    /// real fprintd. As root, because the process trusts only fprintd of root, and fprintd is the test's own.
    @Suite(.needs(.fprintd), .needs(.root), .timeLimit(.minutes(2))) struct SensorProcessTests {
        private let machine: Fprintd
        private let folder: RootFolder
        private let program: RealSensors
        private let sensors: ProcessSensors
        private let log = CollectedLog()
        private let changes = DispatchSemaphore(value: 0)

        init() throws {
            machine = try Fprintd(.device)
            try machine.enroll("A")
            folder = try RootFolder()
            try folder.write("hardware.conf", "allow-virtual-hardware = yes\n")
            program = RealSensors(bus: machine.bus.address, ["--hardware", folder.path + "/hardware.conf"])
            sensors = ProcessSensors(program, user: ReaderUnderTest.user, clock: SystemClock(), log: log)
            sensors.observe { [changes] in changes.signal() }
        }

        @Test func withoutTheLineOfRootThereIsNoSensor_abuse24() throws {
            let refused = ProcessSensors(
                RealSensors(bus: machine.bus.address, ["--hardware", folder.path + "/none"]),
                user: ReaderUnderTest.user, clock: SystemClock(), log: log)
            defer { refused.stop() }
            #expect(refused.state(for: ReaderUnderTest.user) == .absent)
            try log.wait(for: .sensorFailed)
            #expect(log.messages.contains { $0.contains("allow-virtual-hardware = yes") })
        }

        /// latchkeyd reads the file as well, and logs what is wrong with it.
        @Test func aDamagedFileAllowsNothingAndIsNotLoggedByTheProcess_abuse24() throws {
            try folder.write("damaged.conf", "allow-virtual-hardware = maybe\n")
            let log = CollectedLog()
            let refused = ProcessSensors(
                RealSensors(bus: machine.bus.address, ["--hardware", folder.path + "/damaged.conf"]),
                user: ReaderUnderTest.user, clock: SystemClock(), log: log)
            defer { refused.stop() }
            #expect(refused.state(for: ReaderUnderTest.user) == .absent)
            // The line of the file would be sent before the one of the reader.
            try log.wait(for: .sensorFailed)
            #expect(log.messages.allSatisfy { $0.contains("it is a program") }, "\(log.messages)")
        }

        private func state(until isReached: (SensorState) -> Bool) throws -> SensorState {
            while true {
                let state = sensors.state(for: ReaderUnderTest.user)
                if isReached(state) { return state }
                try changes.signalled()
            }
        }

        private func arm(_ evaluation: UInt64) throws -> Recorder<SensorEvent> {
            let scan = Recorder<SensorEvent>()
            // A scan that was ended may have begun again before.
            machine.client.forget()
            sensors.arm(evaluation, user: ReaderUnderTest.user, events: scan.add)
            try machine.client.signal { $0.member == "VerifyFingerSelected" }
            return scan
        }

        @Test func aFingerMatchesAndBindsNothingToTheEnrolment() throws {
            defer { sensors.stop() }
            let state = try state { $0.enrolment != nil }
            #expect(state.kind == .touchID && !state.reportsEnrolmentChanges && !state.isWeak)
            let scan = try arm(1)
            machine.send("SCAN B")
            #expect(try scan.next() == .noMatch)
            sensors.disarm(1)
            try machine.released()
            let again = try arm(1)
            machine.send("RETRY 1")
            guard case .guidance = try again.next() else { throw CocoaError(.featureUnsupported) }
            machine.send("SCAN A")
            #expect(try again.next() == .match(try #require(state.enrolment), isVirtual: true))
            sensors.disarm(1)
            try machine.released()
            #expect(log.events.isEmpty)
        }

        @Test(arguments: [SIGKILL, SIGSTOP])
        func aProcessThatIsKilledOrStoppedDuringAScanFailsItAndReleasesTheReader(_ signal: CInt) throws {
            defer { sensors.stop() }
            let before = try state { $0.enrolment != nil }
            let scan = try arm(1)
            program.signal(signal)
            // A stopped process is noticed by the next request.
            if signal == SIGSTOP { sensors.look() }
            #expect(try scan.next() == .failed)
            try machine.released()
            // The next process serves the next evaluation.
            #expect(try state { $0.enrolment != nil } == before)
            let again = try arm(2)
            machine.send("SCAN A")
            #expect(try again.next() == .match(try #require(before.enrolment), isVirtual: true))
        }

        @Test func polkitDecidesWhetherTheUserMayUseTheReader() throws {
            defer { sensors.stop() }
            _ = try state { $0.enrolment != nil }
            sensors.stop()
            machine.allow { $0 != "net.reactivated.fprint.device.verify" }
            let refused = ProcessSensors(program, user: ReaderUnderTest.user, clock: SystemClock(), log: log)
            defer { refused.stop() }
            #expect(refused.state(for: ReaderUnderTest.user) == .absent)
            try log.wait(for: .sensorFailed)
            #expect(log.messages.contains { $0.contains("polkit refuses it") })
        }
    }
}
