// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
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
        let context = try session.context()
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

    /// The form byte of the only row's secret, which says whether it is sealed for the passcode.
    private func form(_ machine: SimulatedService) throws -> UInt8? {
        var form: UInt8?
        try machine.store.read { (store) throws(Failure) in
            try store.forEachRow(.all) { (row) throws(Failure) in
                form = row.secret?.first
                return true
            }
        }
        return form
    }

    @Test func itemsThatCannotBeSealedForThePasscodeAreLoggedAndSealedAtTheNextStart() throws {
        let machine = try machine()
        let keychain = machine.keychain
        let request = Request.AddItem(
            itemClass: .genericPassword, attributes: [.account: .text("early")],
            accessControl: AccessControl(accessibility: .whenUnlocked, constraints: .devicePasscode),
            secret: SecretBytes("secret".utf8), returns: [], authentication: Authentication())
        _ = try keychain.add(request, caller: SimulatedService.caller)
        let plain = try form(machine)
        let stretched = try StretchedPassword(SecretBytes("right".utf8), keychain.newPasscodeStretching())
        try keychain.setPasscode(.stretched(stretched), caller: SimulatedService.caller)
        _ = try machine.world.apply(.fail(.diskFull))
        machine.service.sealForPasscode()
        #expect(events.entries.map(\.event) == [.rowsNotSealed])
        #expect(events.entries.first?.failure?.status == .diskFull)
        #expect(try plain != nil && form(machine) == plain)
        machine.service.beginStoreCheck()
        #expect(try form(machine) != plain, "the next start seals them")
        #expect(events.entries.count == 1)
    }

    @Test func successIsNotLogged() throws {
        let machine = try machine()
        _ = try machine.world.apply(.lock)
        _ = try machine.world.apply(.unlock(byBiometry: false))
        #expect(events.entries.isEmpty)
    }
}
