// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import SystemDriver
import TestPromises
import Testing

@testable import LatchkeyService

/// The audit log records failed tries and the lockouts that they cause.
@Suite struct FailedTryTests {
    /// Returns the number of audit log entries of that event.
    private func entries(_ event: AuditEvent, _ simulated: SimulatedService) throws -> Int {
        let request = Request.Log(after: 0, limit: Limits.auditEntries, verifies: true)
        let page = try simulated.keychain.log(request)
        #expect(page.finding == nil)
        return page.lines.filter { $0.event == event }.count
    }

    /// Creates a machine without a sensor and with the passcode 1234.
    private func machine() throws -> InterruptedService {
        let machine = try InterruptedService(WorldState(sensor: .none), work: ImmediateWorkQueue())
        #expect(machine.answers(.passcode(.set(SecretBytes("1234".utf8))))() == [.done])
        return machine
    }

    private func type(_ passcode: String, _ machine: InterruptedService) {
        machine.world.perform(.passcode(SecretBytes(passcode.utf8)))
    }

    /// Requests biometry, fails to match `count` times and cancels.
    private func miss(_ count: Int, _ machine: InterruptedService) throws {
        machine.answers(InterruptedService.evaluation(try machine.context(), .deviceOwnerAuthenticationWithBiometrics))
        for _ in 1...count { machine.world.perform(.touch(matching: false)) }
        machine.answers(.simulate(.cancel), id: 100)
    }

    @Test(.promise("tries.audit")) func auditLogRecordsWrongPasscodesOnly() throws {
        let machine = try machine()
        machine.answers(.passcode(.change(SecretBytes("5678".utf8))))
        for typed in ["0000", "0000", "0001", "1234"] { type(typed, machine) }
        #expect(try entries(.passcodeChanged, machine.simulated) == 1)
        #expect(try entries(.tryFailed, machine.simulated) == 2, "the same wrong passcode is one try")
        #expect(try entries(.lockedOut, machine.simulated) == 0)
    }

    @Test(.promise("tries.audit")) func fifthMissRecordsALockoutAndAdvancesTheStoreGeneration_LA28() throws {
        let machine = try InterruptedService(work: ImmediateWorkQueue())
        machine.answers(.passcode(.set(SecretBytes("1234".utf8))))
        // Biometry is accepted only after the passcode was entered.
        machine.answers(.passcode(.change(SecretBytes("1234".utf8))), id: 2)
        type("1234", machine)
        try miss(2, machine)
        try miss(2, machine)
        #expect(machine.simulated.keychain.isAnchoringDue, "an entry alone advances the store generation later")
        #expect(try entries(.tryFailed, machine.simulated) == 4)
        #expect(try entries(.lockedOut, machine.simulated) == 0)
        try miss(1, machine)
        #expect(try entries(.tryFailed, machine.simulated) == 5)
        #expect(try entries(.lockedOut, machine.simulated) == 1)
        #expect(!machine.simulated.keychain.isAnchoringDue)
    }

    @Test func longestDelayIsRecordedAsOneLockout_LA30() throws {
        let machine = try machine()
        for number in 1...7 {
            machine.answers(.passcode(.change(SecretBytes("5678".utf8))), id: UInt64(number))
            type("000\(number)", machine)
            machine.answers(.simulate(.cancel), id: 100)
            machine.answers(.simulate(.advance(seconds: 3600)), id: 101)
            #expect(try entries(.lockedOut, machine.simulated) == (number < 6 ? 0 : 1), "\(number)")
        }
        #expect(try entries(.tryFailed, machine.simulated) == 7)
    }

    @Test(.promise("tries.audit"), arguments: [BiometryKind.touchID, .faceID])
    func anEntryNamesTheProgramTheItemAndWhatWasTried(_ sensor: BiometryKind) throws {
        let machine = try InterruptedService(
            WorldState(sensor: sensor, enrolment: [1]), faceUsage: "to open it", work: ImmediateWorkQueue())
        machine.answers(.passcode(.set(SecretBytes("1234".utf8))))
        let add = Request.AddItem(
            attributes: [.account: .text("token")], accessControl: AccessControl(constraints: .userPresence),
            secret: SecretBytes("secret".utf8))
        #expect(machine.answers(.addItem(add), id: 2)() == [.done])
        // Biometry is accepted only after the passcode was entered; this try belongs to no item.
        machine.answers(.passcode(.change(SecretBytes("1234".utf8))), id: 3)
        type("0000", machine)
        type("1234", machine)
        machine.answers(.copyItems(Request.CopyItems(.password("token"))), id: 4)
        // After its last try, the camera leaves the prompt to the passcode.
        let misses: [SimulatedWorld.Action] =
            sensor == .touchID
            ? [.touch(matching: false), .touch(matching: false), .fallback]
            : [.permission(true), .face(matching: false), .face(matching: false)]
        for action in misses { machine.world.perform(action) }
        type("0001", machine)
        machine.answers(.simulate(.cancel), id: 100)
        let lines = try machine.simulated.keychain.log(
            Request.Log(after: 0, limit: Limits.auditEntries, verifies: true)
        ).lines
        let tries = lines.filter { $0.event == .tryFailed }
        let item = try #require(lines.first { $0.event == .added }).item
        let missed = AuditGround.failed(sensor == .touchID ? .finger : .face)
        #expect(tries.map(\.ground) == [.failed(.passcode), missed, missed, .failed(.passcode)])
        #expect(tries.map(\.item) == [[], item, item, item])
        let refusal = try #require(lines.last { $0.event == .refused })
        #expect(!refusal.caller.isEmpty && tries.allSatisfy { $0.caller == refusal.caller })
        #expect(refusal.item == item)
    }

    @Test func failedTryThatCannotBeRecordedIsLoggedAndStaysCounted() throws {
        let log = CollectedEvents()
        let simulated = try SimulatedService(WorldState(sensor: .none), scriptsStore: true) { parts, _ in
            parts.log = log
        }
        let session = simulated.session()
        InterruptedService.answers(session, .passcode(.set(SecretBytes("1234".utf8))))
        InterruptedService.answers(session, .passcode(.change(SecretBytes("5678".utf8))), id: 2)
        _ = try simulated.world.apply(.fail(.diskFull))
        simulated.world.perform(.passcode(SecretBytes("0000".utf8)))
        #expect(log.entries.map(\.event) == [.tryNotRecorded])
        #expect(simulated.service.authority.state.passcodeFailures == 1)
        #expect(try entries(.tryFailed, simulated) == 0)
    }
}
