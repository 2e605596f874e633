// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import SimulatedDriver
import SystemDriver
import Testing

@testable import LatchkeyService

/// Failures that no reply reports are logged.
@Suite struct UnreportedFailureTests {
    private let events = CollectedEvents()

    private func machine() throws -> SimulatedService {
        try SimulatedService(scriptsStore: true) { parts, world in
            parts.log = events
            parts.sessions = world
        }
    }

    @Test func lockThatCannotBeStoredAppliesAndIsLogged() throws {
        let machine = try machine()
        _ = try machine.world.apply(.fail(.diskFull))
        _ = try machine.world.apply(.lock)
        #expect(events.entries.map(\.event) == [.lockNotKept])
        #expect(events.entries.first?.failure?.status == .diskFull)
        #expect(machine.keychain.tree.lockState.isLocked)
    }

    /// Without a keychain any program can be refused again and again.
    @Test func refusalsThatCannotBeRecordedAreLoggedOnceInTenMinutes() throws {
        let (clock, work) = (VirtualClock(), ImmediateWorkQueue())
        let service = Service(
            Service.Parts(
                tier: .simulated, userID: 1, storePath: "", processID: 1,
                keychain: .failure(Failure(.storeUnreadable)), authority: try machine().service.authority,
                clock: clock, random: SystemRandomSource(), work: work, stretching: work, log: events))
        let session = service.session(
            caller: SimulatedService.caller, terminal: 0, mayNameItself: true, hello: Request.Hello(application: ""))
        guard case .context(let context)? = InterruptedService.answers(session, .createContext)().last else {
            Issue.record("no context")
            return
        }
        func beRefused() {
            for _ in 0..<50 {
                let replies = InterruptedService.answers(
                    session, InterruptedService.evaluation(context, .deviceOwnerAuthentication))
                guard case .failure? = replies().last else {
                    Issue.record("it was granted")
                    return
                }
            }
        }
        beRefused()
        #expect(events.entries.map(\.event) == [.refusalNotRecorded])
        clock.advance(seconds: 600)
        beRefused()
        #expect(events.entries.map(\.event) == [.refusalNotRecorded, .refusalNotRecorded])
    }

    @Test func successIsNotLogged() throws {
        let machine = try machine()
        _ = try machine.world.apply(.lock)
        _ = try machine.world.apply(.unlock(byBiometry: false))
        #expect(events.entries.isEmpty)
    }
}
