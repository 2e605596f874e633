// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import Synchronization
import TestSupport
import Testing

@testable import LatchkeyService

/// The events of sensors and sessions, as the service passes them to the reducer: each belongs to a user.
@Suite struct SensorEventTests {
    /// Records for which user the sensor is asked and armed.
    private final class CollectingReader: BiometricReader {
        private let reader: any BiometricReader
        let asked = Mutex<Set<UInt32>>([])
        let armed = Recorder<UInt32>()

        init(_ reader: any BiometricReader) { self.reader = reader }
        func state(for user: UInt32) -> SensorState {
            asked.withLock { _ = $0.insert(user) }
            return reader.state(for: user)
        }
        func arm(_ evaluation: UInt64, user: UInt32, events: @escaping @Sendable (SensorEvent) -> Void) {
            armed.add(user)
            reader.arm(evaluation, user: user, events: events)
        }
        func disarm(_ evaluation: UInt64) { reader.disarm(evaluation) }
        func observe(_ changed: @escaping @Sendable () -> Void) { reader.observe(changed) }
    }

    /// A reader that announces no change of its fingers.
    private final class SilentReader: BiometricReader {
        let enrolled = Mutex(EnrolmentSet([1]))
        private let events = Mutex<(@Sendable (SensorEvent) -> Void)?>(nil)
        func state(for user: UInt32) -> SensorState {
            SensorState(kind: .touchID, enrolment: enrolled.withLock { $0 })
        }
        func arm(_ evaluation: UInt64, user: UInt32, events: @escaping @Sendable (SensorEvent) -> Void) {
            self.events.withLock { $0 = events }
        }
        func disarm(_ evaluation: UInt64) {}
        func observe(_ changed: @escaping @Sendable () -> Void) {}
        func match(_ set: EnrolmentSet) { events.withLock { $0 }?(.match(set, isVirtual: false)) }
    }

    /// Reports the session events that a test sends.
    private final class NotingMonitor: SessionMonitor {
        let report = Mutex<(@Sendable (SessionEvent, @escaping @Sendable () -> Void) -> Void)?>(nil)
        let state = Mutex(SessionState(isLocked: false, biometry: .every))
        func sessions(of user: UInt32) -> SessionState { state.withLock { $0 } }
        func observeSession(
            _ report: @escaping @Sendable (SessionEvent, @escaping @Sendable () -> Void) -> Void
        ) {
            self.report.withLock { $0 = report }
        }
        func send(_ user: UInt32, _ change: SessionEvent.Change) {
            report.withLock { $0 }?(SessionEvent(user: user, session: "c1", change)) {}
        }
    }

    private static let passcode = SecretBytes("1234".utf8)

    /// Asks for biometry or the passcode, as an operation of the daemon does, and returns the results so far.
    private func ask(_ machine: SimulatedService, _ plan: AuthenticationPlan) -> () -> [String] {
        let ends = Recorder<Result<Agreement, Failure>>()
        machine.session().ask(9, Question(plan: plan, purpose: .exportItems), ends.add)
        return {
            ends.all.map { end in
                switch end {
                case .success(let agreement): "\(agreement.proof.methods.map { "\($0)" }.sorted())"
                case .failure(let failure): "\(failure.status)"
                }
            }
        }
    }

    private func setPasscode(_ machine: SimulatedService) {
        InterruptedService.answers(machine.session(), .passcode(.set(Self.passcode)))
    }

    @Test func theSensorIsAskedAndArmedForTheUserOfTheCaller() throws {
        var collecting: CollectingReader?
        let machine = try SimulatedService { parts, _ in
            let reader = CollectingReader(parts.reader)
            collecting = reader
            parts.reader = reader
        }
        let reader = try #require(collecting)
        setPasscode(machine)
        machine.world.perform(.touch(matching: true))
        let words = ask(machine, AuthenticationPlan([[.biometry]]))
        #expect(words() == ["[\"biometry\"]"])
        #expect(reader.asked.withLock { $0 } == [1] && reader.armed.all == [1])
    }

    @Test func aMatchOfASetThatWasNotAnnouncedIsFollowedFirstAndCounts_abuse32() throws {
        let (earlier, later) = (EnrolmentSet([1]), EnrolmentSet([2]))
        let reader = SilentReader()
        let machine = try SimulatedService { parts, _ in parts.reader = reader }
        setPasscode(machine)
        let words = ask(machine, AuthenticationPlan([[.biometry]]))
        reader.enrolled.withLock { $0 = later }
        // A set that is not enrolled makes the change known too, and is a miss, as the earlier one is then.
        reader.match(EnrolmentSet([3]))
        reader.match(earlier)
        #expect(words().isEmpty && machine.service.authority.state.biometryFailures == 2)
        reader.match(later)
        #expect(words() == ["[\"biometry\"]"])
        #expect(machine.service.authority.state.sensor.enrolment == later)
    }

    @Test func aFingerOfAnotherUserNeverMatches() throws {
        let machine = try SimulatedService()
        #expect(machine.world.state(for: 1).enrolment != nil && machine.world.state(for: 2).enrolment == nil)
        let events = Recorder<SensorEvent>()
        machine.world.arm(7, user: 2) { events.add($0) }
        machine.world.perform(.touch(matching: true))
        #expect(events.all == [.noMatch])
    }

    @Test func guidanceIsShownAndUsesNoTry() throws {
        let machine = try SimulatedService()
        setPasscode(machine)
        let words = ask(machine, AuthenticationPlan([[.biometry]]))
        for guidance in SensorGuidance.allCases { machine.world.perform(.guidance(guidance)) }
        #expect(words().isEmpty && machine.service.authority.state.biometryFailures == 0)
        #expect(machine.service.authority.state.active.first?.failedTries == 0)
        let transcript = machine.world.transcript.joined(separator: "\n")
        #expect(transcript.contains("prompt: touchID, swipeTooShort, tries left: 3"))
        machine.world.perform(.touch(matching: true))
        #expect(words() == ["[\"biometry\"]"])
    }

    @Test func anUnpluggedSensorIsReplacedByThePasscode() throws {
        let machine = try SimulatedService()
        setPasscode(machine)
        let words = ask(machine, AuthenticationPlan([[.biometry, .passcode]]))
        machine.world.perform(.unplug)
        #expect(machine.world.state(for: 1).kind == .none && words().isEmpty)
        #expect(machine.service.authority.state.biometryFailures == 0)
        machine.world.perform(.passcode(Self.passcode))
        #expect(words() == ["[\"passcode\"]"])
    }

    @Test func anUnpluggedSensorEndsABiometricEvaluation() throws {
        let machine = try SimulatedService()
        setPasscode(machine)
        let words = ask(machine, AuthenticationPlan([[.biometry]]))
        machine.world.perform(.unplug)
        #expect(words() == ["biometryDisconnected"])
        #expect(ask(machine, AuthenticationPlan([[.biometry]]))() == ["biometryNotAvailable"])
        #expect(try machine.world.apply(.sensor(.touchID)))
        machine.world.perform(.touch(matching: true))
        #expect(ask(machine, AuthenticationPlan([[.biometry]]))() == ["[\"biometry\"]"], "the set is still enrolled")
    }

    @Test func sessionEventsOfAnotherUserAreIgnored() throws {
        let monitor = NotingMonitor()
        let machine = try SimulatedService { parts, _ in parts.sessions = monitor }
        monitor.send(2, .locked)
        monitor.send(2, .background(true))
        #expect(!machine.service.authority.state.isLocked && !machine.service.authority.state.isInBackground)
        monitor.send(1, .locked)
        #expect(machine.service.authority.state.isLocked)
        monitor.send(2, .unlocked(byBiometry: false))
        #expect(machine.service.authority.state.isLocked)
        monitor.send(1, .unlocked(byBiometry: false))
        #expect(!machine.service.authority.state.isLocked)
    }

    @Test func simulatedSessionEventsNameTheUserOfTheMachine() throws {
        let machine = try SimulatedService()
        let events = Recorder<SessionEvent>()
        machine.world.observeSession { event, _ in events.add(event) }
        _ = try machine.world.apply(.lock)
        #expect(events.all == [SessionEvent(user: 1, session: "simulated", .locked)])
    }
}
