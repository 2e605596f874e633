// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import Foundation
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import TestPromises
import TestSupport
import Testing

/// One after the other: the tests wait for other processes on the threads of the test run.
@Suite(.serialized) enum FprintDriverTests {}

extension FprintDriverTests {
    /// The driver with the real fprintd and a virtual reader.
    @Suite(.needs(.fprintd), .timeLimit(.minutes(2))) struct RealFprintdTests {
        /// Waits until a scan waits for a finger.
        private func begun(_ machine: Fprintd) throws {
            try machine.client.signal { $0.member == "VerifyFingerSelected" }
        }

        @Test func theProgramUnderTheNameIsFprintd() throws {
            let machine = try Fprintd(.device)
            let path = "/org/freedesktop/DBus"
            let owner = try machine.client.call(
                .init(
                    "org.freedesktop.DBus", path, "org.freedesktop.DBus", "GetConnectionUnixProcessID",
                    [.string("net.reactivated.Fprint")]))
            let process = try #require(owner.first?.number)
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe") == Fprintd.program)
        }

        @Test func theStateNamesTheEnrolledFingers() throws {
            let machine = try Fprintd(.device)
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            #expect(reader.state == SensorState(kind: .touchID, isVirtual: true))
            try machine.enroll("A")
            #expect(try reader.change { $0.enrolment != nil }.reportsEnrolmentChanges)
        }

        @Test(.promise("abuse.24"), arguments: [Fprintd.Reader.device, .storage, .image])
        func aVirtualReaderIsAbsentWithoutTheConsentOfRoot_abuse24(_ kind: Fprintd.Reader) throws {
            let machine = try Fprintd(kind)
            if kind != .image { try machine.enroll("A", on: kind) }
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state, allowsVirtual: false)
            for _ in 0..<2 { #expect(reader.state == .absent) }
            reader.arm()
            #expect(try reader.next() == .disconnected)
            #expect(reader.log.events == [.sensorFailed], "noted once")
            #expect(reader.log.messages[0].contains("Virtual "))
            #expect(
                reader.log.messages[0].hasSuffix("/etc/latchkey/latchkeyd.conf: allow-virtual-hardware = yes"))
        }

        @Test func withoutTheFilesChangesCannotBeDetected() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            let reader = try ReaderUnderTest(machine.bus, templates: nil)
            #expect(reader.state.enrolment != nil)
            #expect(!reader.state.reportsEnrolmentChanges)
        }

        @Test func withoutTheFilesTheNameOfAFingerIsMissingWhileItIsReplaced() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            let reader = try ReaderUnderTest(machine.bus, templates: nil)
            let before = try #require(reader.state.enrolment)
            // Known as soon as the reader waits for the finger, and not only after its last scan.
            try machine.enroll("B") { _ = try reader.change { $0.enrolment == nil } }
            #expect(try reader.change { $0.enrolment != nil }.enrolment == before)
        }

        @Test func withoutTheFilesADeletedFingerIsNoticedWhenAnotherOneIsEnrolled() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            try machine.enroll("B", as: "left-thumb")
            let reader = try ReaderUnderTest(machine.bus, templates: nil)
            let both = try #require(reader.state.enrolment)
            // fprintd does not announce it.
            try machine.client.device("Claim", Fprintd.account)
            try machine.client.device("DeleteEnrolledFinger", "left-thumb")
            try machine.client.device("Release")
            try machine.enroll("C", as: "left-thumb") {
                _ = try reader.change { $0.enrolment != nil && $0.enrolment != both }
            }
            #expect(try reader.change { $0.enrolment == both }.enrolment == both)
        }

        @Test(arguments: [Fprintd.Reader.device, .storage])
        func aMatchNamesTheEnrolmentSet(_ kind: Fprintd.Reader) throws {
            let machine = try Fprintd(kind)
            try machine.enroll("A", on: kind)
            // With two fingers a reader that can identify does so; for another one fprintd chooses one finger.
            if kind == .storage { try machine.enroll("B", as: "left-thumb", on: kind) }
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            let set = try #require(reader.state.enrolment)
            reader.arm()
            try begun(machine)
            machine.send("SCAN A", to: kind)
            #expect(try reader.next() == .match(set, isVirtual: true))
            reader.reader.disarm(1)
            try machine.released()
            #expect(reader.all.isEmpty)
            #expect(reader.log.events.isEmpty)
        }

        @Test func aScanReportsAChangeOfTheFingersBeforeItsMatch() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            var timing = FprintReader.Timing.forTests
            // The notice of the change itself never arrives.
            timing.settle = 600_000
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state, timing: timing)
            let before = try #require(reader.state.enrolment)
            try machine.enroll("B", as: "left-thumb")
            reader.arm()
            try begun(machine)
            let set = try #require(try reader.change { $0.enrolment != before }.enrolment)
            machine.send("SCAN B")
            #expect(try reader.next() == .match(set, isVirtual: true))
        }

        @Test func aFingerThatLiesOnTheReaderAlreadyCounts() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            let set = try #require(reader.state.enrolment)
            for evaluation in 1...20 as ClosedRange<UInt64> {
                reader.arm(evaluation)
                // Taken as soon as the reader is claimed, before the verification begins or after.
                try #require(machine.sendWhenClaimed("SCAN A"))
                #expect(try reader.next() == .match(set, isVirtual: true))
                reader.reader.disarm(evaluation)
                try machine.released()
            }
        }

        @Test func aReaderThatWasAbsentIsFoundAgain() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            machine.allow { _ in false }
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            #expect(reader.state == .absent)
            machine.allow { _ in true }
            #expect(reader.state.enrolment != nil)
        }

        @Test func anotherFingerIsAMissAndTheScanGoesOn() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            reader.arm()
            for _ in 0..<2 {
                try begun(machine)
                machine.send("SCAN B")
                #expect(try reader.next() == .noMatch)
            }
            try begun(machine)
            machine.send("SCAN A")
            guard case .match = try reader.next() else {
                return #expect(Bool(false), "the enrolled finger does not match")
            }
        }

        @Test(arguments: [
            (0, SensorGuidance.scanAgain), (1, .swipeTooShort), (2, .fingerNotCentred), (3, .removeAndRetry),
        ])
        func aScanThatCannotBeUsedIsGuidance(_ retry: Int, _ guidance: SensorGuidance) throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            reader.arm()
            try begun(machine)
            machine.send("RETRY \(retry)")
            #expect(try reader.next() == .guidance(guidance))
            machine.send("SCAN A")
            guard case .match = try reader.next() else { return #expect(Bool(false), "the scan has ended") }
        }

        @Test func anErrorOfTheSensorEndsTheScanAndReleasesTheDevice() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            reader.arm()
            try begun(machine)
            machine.send("ERROR 0")
            #expect(try reader.next() == .failed)
            try machine.released()
        }

        @Test func disarmingIsNoMissAndReleasesTheDevice() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            reader.arm()
            try begun(machine)
            reader.reader.disarm(1)
            // fprintd reports the stopped verification as a miss.
            try machine.client.signal { $0.member == "VerifyStatus" && $0.arguments[0].text == "verify-no-match" }
            try machine.released()
            #expect(reader.all.isEmpty)
        }

        @Test func disarmingAtAnyMomentReleasesTheDevice() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            _ = reader.state
            for evaluation in 0..<20 as Range<UInt64> {
                reader.arm(evaluation)
                // Between no and some hundred steps of the bus's thread. A virtual reader without a command ends the scan
                // after half a second.
                let deadline = Uptime.nanoseconds + 200_000_000
                for _ in 0..<(evaluation * 10) where Uptime.nanoseconds < deadline { try reader.settle() }
                reader.reader.disarm(evaluation)
                try machine.released()
            }
            #expect(reader.all.isEmpty)
            #expect(reader.log.events.isEmpty)
        }

        @Test func anUnpluggedReaderIsDisconnectedAndThenAbsent() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            #expect(reader.state.kind == .touchID)
            reader.arm()
            try begun(machine)
            machine.send("UNPLUG")
            #expect(try reader.next() == .disconnected)
            _ = try reader.change { $0 == .absent }
        }

        @Test(.promise("abuse.16")) func aRestartOfFprintdEndsTheScanAndTheNextOneWorks_abuse16() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            let set = try #require(reader.state.enrolment)
            reader.arm()
            try begun(machine)
            machine.stop()
            #expect(try reader.next() == .failed)
            try machine.start()
            reader.arm(2)
            try begun(machine)
            machine.send("SCAN A")
            #expect(try reader.next() == .match(set, isVirtual: true))
        }

        @Test func aReaderThatAnotherProgramUsesIsWaitedFor() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            var timing = FprintDriverTiming.forTests
            timing.busy = 10
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state, timing: timing)
            let set = try #require(reader.state.enrolment)
            try machine.client.device("Claim", Fprintd.account)
            reader.arm()
            #expect(try reader.next() == .inUse(true))
            try machine.client.device("Release")
            #expect(try reader.next() == .inUse(false))
            try begun(machine)
            machine.send("SCAN A")
            #expect(try reader.next() == .match(set, isVirtual: true))
        }

        @Test func twoEvaluationsUseTheReaderOneAfterTheOther() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            let set = try #require(reader.state.enrolment)
            reader.arm(1)
            reader.arm(2)
            try begun(machine)
            machine.send("SCAN A")
            #expect(try reader.next() == .match(set, isVirtual: true))
            reader.reader.disarm(1)
            try begun(machine)
            #expect(reader.all.isEmpty, "a match counts for one evaluation")
            machine.send("SCAN A")
            #expect(try reader.next() == .match(set, isVirtual: true))
        }

        @Test func polkitsRefusalIsLoggedWithTheAction() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            machine.allow { _ in false }
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            #expect(reader.state == .absent)
            #expect(reader.log.events == [.sensorFailed])
            #expect(reader.log.messages[0].contains("net.reactivated.fprint.device.verify"))
        }

        @Test func theTimeLimitEndsTheScan() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            var timing = FprintDriverTiming.forTests
            timing.scan = 50
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state, timing: timing)
            reader.arm()
            #expect(try reader.next() == .failed)
            try machine.released()
        }

        @Test(.promise("fprintd.set", "abuse.30")) func aFingerReplacedUnderTheSameNameIsAnotherSet_abuse30() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            let before = try #require(reader.state.enrolment)
            try machine.enroll("B")
            let after = try #require(reader.change { $0.enrolment != nil && $0.enrolment != before }.enrolment)
            reader.arm()
            try begun(machine)
            machine.send("SCAN A")
            #expect(try reader.next() == .noMatch)
            try begun(machine)
            machine.send("SCAN B")
            #expect(try reader.next() == .match(after, isVirtual: true))
        }
    }
}
