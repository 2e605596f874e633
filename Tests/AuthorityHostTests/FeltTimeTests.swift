// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import SeamStandIns
import SimulatedDriver
import Synchronization
import TestSupport
import Testing

@testable import AuthorityDaemon

/// What a person waits for with a chip behind the kernel's resource manager: what is done between the touch or the passcode
/// and the reply. Everything else is done while the prompt is shown, or after the reply.
@Suite(.needs(.softwareTPM)) struct FeltTimeTests {
    private let managed: ManagedMachine
    private var machine: TwoServices { managed.machine }
    private var tpm: ManagedTPM { managed.tpm }

    init() throws { managed = try ManagedMachine() }

    /// An approval and a signature, with the key, the authority's key and the session beside them: 18 commands.
    @Test func aFinger() throws {
        let key = try managed.makeKey(.biometryAny)
        for (seconds, before) in [(0, 17), (1, 0), (61, 17), (3600, 17)] as [(Int64, Int)] {
            machine.clock.advance(seconds: seconds)
            let phases = try managed.sign(key, managed.touch)
            try phases.expect("finger")
            #expect(phases.before.count == before)
        }
    }

    /// The verification and the secret that it opens, 14 commands; the proof to the key and the signature, 14 commands.
    @Test func aPasscode() throws {
        let key = try managed.makeKey(.devicePasscode)
        for (seconds, before) in [(0, 45), (1, 37), (61, 44), (3600, 44)] as [(Int64, Int)] {
            machine.clock.advance(seconds: seconds)
            let phases = try managed.sign(key, managed.type)
            try phases.expect("passcode")
            #expect(phases.before.count == before)
        }
    }

    /// The authority's key of the use by finger is not carried along.
    @Test func aPasscodeAfterAFinger() throws {
        let (finger, passcode) = (try managed.makeKey(.biometryAny), try managed.makeKey(.devicePasscode))
        try managed.sign(finger, managed.touch).expect("finger")
        try managed.sign(passcode, managed.type).expect("passcode")
        try managed.sign(finger, managed.touch).expect("finger")
    }

    /// The choice of the branch in addition.
    @Test func aKeyThatAcceptsBothByFinger() throws {
        let key = try managed.makeKey(.userPresence)
        try managed.sign(key, managed.touch).expect(felt: 27, milliseconds: 900)
    }

    @Test func aWrongPasscodeIsCountedOnceAndTheRightOneIsFast() throws {
        let key = try managed.makeKey(.devicePasscode)
        let replies = managed.ask(key)
        managed.type("uvwxyz")
        #expect(machine.authority.state.passcodeFailures == 1)
        _ = tpm.takeEntries()
        managed.type()
        #expect(try key.verify(replies().last, ManagedMachine.digest) == nil)
        #expect(tpm.takeEntries().count == 28)
        #expect(machine.authority.state.passcodeFailures == 0)
    }

    /// The nonce, from which an approval is counted, is renewed while the prompt is shown.
    @Test func aPersonMayTakeAMinute() throws {
        let key = try managed.makeKey(.biometryAny)
        let replies = managed.ask(key)
        _ = tpm.takeEntries()
        for _ in 1...58 { machine.clock.advance(seconds: 1) }
        #expect(tpm.takeEntries().filter { !$0.isOfManager }.map(\.number) == [0x17b, 0x17b, 0x17b])
        try managed.touch()
        #expect(try key.verify(replies().last, ManagedMachine.digest) == nil)
        #expect(tpm.takeEntries().count == 18)
        // After the use nothing is renewed.
        machine.clock.advance(seconds: 3600)
        #expect(tpm.takeEntries().filter { $0.number == 0x17b }.isEmpty)
        #expect(tpm.isEmpty)
    }

    /// What `latchkey doctor` says of the writes that wear a TPM out.
    @Test func usesWriteNothingAndAWrongPasscodeWritesTwice() throws {
        let (finger, passcode) = (try managed.makeKey(.biometryAny), try managed.makeKey(.devicePasscode))
        var memory = try #require(managed.memory)
        _ = try managed.sign(finger, managed.touch)
        _ = try managed.sign(passcode, managed.type)
        #expect(managed.memory == memory)
        _ = managed.ask(passcode)
        managed.type("uvwxyz")
        #expect(managed.memory != memory)
        memory = try #require(managed.memory)
        managed.type()
        #expect(managed.memory != memory)
    }

    // MARK: - Nothing is left

    /// How a prompt ends without a use.
    enum Ending: CaseIterable { case cancelled, timedOut, locked, authorityLost, programLost }

    @Test(arguments: Ending.allCases, [AccessConstraints.biometryAny, .devicePasscode])
    func aRequestThatEndsWithoutAUseLeavesNothing(_ ending: Ending, _ constraints: AccessConstraints) throws {
        let key = try managed.makeKey(constraints)
        let session = machine.session()
        let request = Request.UseEnclaveKey(
            name: key.name, operation: .sign(digest: ManagedMachine.digest), authentication: Authentication())
        let replies = machine.answers(session, .useEnclaveKey(request))
        #expect(tpm.held.objects > 0 && tpm.held.sessions > 0)
        switch ending {
        case .cancelled: machine.world.perform(.cancel)
        case .timedOut: machine.clock.advance(seconds: Limits.promptSeconds + 1)
        case .locked:
            let call = AuthorityCall.change(AuthorityCall.Change(userID: TwoServices.userID, kind: .locked))
            _ = try machine.call(call, number: 9700)
        case .authorityLost: machine.crashAuthority()
        case .programLost: session.close()
        }
        if ending != .programLost { #expect(try key.verify(replies().last, ManagedMachine.digest) != nil) }
        machine.clock.advance(seconds: 2)
        #expect(tpm.isEmpty)
    }

    @Test func theEndOfTheServiceLeavesNothing() throws {
        let key = try managed.makeKey(.devicePasscode)
        _ = managed.ask(key)
        machine.chip?.close()
        #expect(tpm.isEmpty)
    }

    // MARK: - What was prepared is gone

    /// As after a sleep in which the TPM has lost its sessions: the passcode has to be typed again, and the right one ends the
    /// count.
    @Test func whatTheTPMHasLostHasToBeTypedAgain() throws {
        let key = try managed.makeKey(.devicePasscode)
        let replies = managed.ask(key)
        tpm.loseEverything()
        managed.type()
        // The sessions of the use and of its proof are lost too.
        #expect(!replies().isEmpty)
        #expect(machine.authority.state.passcodeFailures == 1)
        try managed.sign(key, managed.type).expect("passcode")
        #expect(machine.authority.state.passcodeFailures == 0)
    }

    /// The TPM loses its power at each command of the preparations and of the use, and has it again at once.
    @Test(arguments: 0...16) func aTPMThatWasTurnedOffMeanwhileIsUsedAgain(commands: Int) throws {
        let key = try managed.makeKey(.devicePasscode)
        managed.restartTPM(after: commands)
        let replies = managed.ask(key)
        managed.type()
        if replies().isEmpty { machine.world.perform(.cancel) }
        #expect(replies().count == 1)
        #expect(machine.authority.state.passcodeFailures <= 1)
        try managed.sign(key, managed.type).expect("passcode")
        #expect(machine.authority.state.passcodeFailures == 0)
        machine.clock.advance(seconds: 62)
        #expect(tpm.isEmpty)
    }

    /// A response that was changed on its way ends the connection of the process that it is for, and not that of latchkeyd: what
    /// was prepared on it is removed nevertheless.
    @Test(arguments: 0...17) func afterAChangedResponseNothingIsLeft(number: Int) throws {
        let key = try managed.makeKey(.devicePasscode)
        let carried = Mutex(0)
        machine.carry { (command, pass) throws(Failure) in
            let response = try pass(command)
            let isChanged = carried.withLock {
                $0 += 1
                return $0 == number + 1
            }
            return isChanged ? Array(response.dropLast()) : response
        }
        let replies = managed.ask(key)
        managed.type()
        if replies().isEmpty { machine.world.perform(.cancel) }
        machine.carry(nil)
        machine.clock.advance(seconds: 62)
        #expect(tpm.isEmpty)
        try managed.sign(key, managed.type).expect("passcode")
    }

    /// A miss whose count could not be read is not taken for one of the next prompt.
    @Test func anEarlierCountIsNotComparedWithThatOfAPrompt() throws {
        let key = try managed.makeKey(.devicePasscode)
        let hasValue = Mutex(false)
        let first = managed.ask(key)
        machine.carry { (command, pass) throws(Failure) in
            if command.isOf(.policySecret) { hasValue.withLock { $0 = true } }
            guard command.isOf(.nvRead), hasValue.withLock({ $0 }) else { return try pass(command) }
            return [0x80, 1, 0, 0, 0, 10, 0, 0, 1, 1]
        }
        managed.type("uvwxyz")
        machine.carry(nil)
        #expect(try key.verify(first().last, ManagedMachine.digest) == .vaultUnavailable)
        let second = managed.ask(key)
        tpm.loseEverything()
        managed.type()
        // It is not called wrong, which would leave the prompt open.
        #expect(try key.verify(second().last, ManagedMachine.digest) == .vaultUnavailable)
        try managed.sign(key, managed.type).expect("passcode")
    }

    /// The connection for keys fails at the proof of another use while the prompt is shown: nothing that was prepared is used
    /// then, and the person types the passcode once.
    @Test func aProofIsMadeWithoutWhatIsKnownToBeGone() throws {
        let key = try managed.makeKey(.devicePasscode)
        let session = machine.session()
        let context = try machine.context(session)
        func useWithContext() throws -> Status? {
            let request = Request.UseEnclaveKey(
                name: key.name, operation: .sign(digest: ManagedMachine.digest),
                authentication: Authentication(context: context))
            let replies = machine.answers(session, .useEnclaveKey(request))
            if machine.seen.shown != nil, replies().isEmpty { managed.type() }
            return try key.verify(replies().last, ManagedMachine.digest)
        }
        #expect(try useWithContext() == nil)
        let replies = managed.ask(key)
        machine.carry { (command, pass) throws(Failure) in
            guard command.isOf(.policySecret) else { return try pass(command) }
            throw Failure(.enclaveUnavailable, "The connection to the TPM ended.")
        }
        #expect(try useWithContext() != nil)
        machine.carry(nil)
        managed.type()
        #expect(try key.verify(replies().last, ManagedMachine.digest) == nil)
    }

    // MARK: - Requests that wait, or get no prompt

    /// Commands of the TPM that programs sent since the last call.
    private func commands() -> [UInt32] { tpm.takeEntries().filter { !$0.isOfManager }.map(\.number) }

    @Test func aRequestThatWaitsForItsPromptPreparesNothing() throws {
        let keys = try [AccessConstraints.devicePasscode, .userPresence, .biometryAny].map { try managed.makeKey($0) }
        let first = managed.ask(keys[0])
        #expect(commands().contains(0x157))
        let others = keys[1...].map { managed.ask($0) }
        #expect(commands().isEmpty)
        managed.type()
        #expect(try keys[0].verify(first().last, ManagedMachine.digest) == nil)
        // The prompt of the second one is shown now.
        _ = tpm.takeEntries()
        try managed.touch()
        #expect(try keys[1].verify(others[0]().last, ManagedMachine.digest) == nil)
        // After the signature the third one is prepared.
        #expect(commands() == [0x160, 0x171, 0x15d, 0x165, 0x157])
        try managed.touch()
        #expect(try keys[2].verify(others[1]().last, ManagedMachine.digest) == nil)
        machine.clock.advance(seconds: 62)
        #expect(tpm.isEmpty)
    }

    @Test func aRequestThatGetsNoPromptPreparesNothing() throws {
        let key = try managed.makeKey(.biometryAny)
        _ = try machine.world.apply(.sensor(.none))
        _ = tpm.takeEntries()
        #expect(try key.verify(managed.ask(key)().last, ManagedMachine.digest) != nil)
        #expect(commands().isEmpty)
    }

    /// latchkeyd passes the value on and claims that the session is gone. A wrong value counts, whatever it claims, and none is
    /// sent twice for one entry.
    @Test(arguments: ["abcdef", "uvwxyz"]) func aClaimThatSomethingIsGoneHidesNoMiss(_ passcode: String) throws {
        let key = try managed.makeKey(.devicePasscode)
        let replies = managed.ask(key)
        let sent = Mutex(0)
        machine.carry { (command, pass) throws(Failure) in
            let response = try pass(command)
            guard command.isOf(.policySecret),
                sent.withLock({
                    $0 += 1
                    return $0 == 1
                })
            else { return response }
            return [0x80, 1, 0, 0, 0, 10, 0, 0, 9, 0x18]
        }
        managed.type(passcode)
        machine.carry(nil)
        #expect(sent.withLock { $0 } == 1)
        #expect(machine.authority.state.passcodeFailures == 1)
        // A miss leaves the prompt open; what the TPM is said to have lost ends it.
        if passcode != "abcdef" { machine.world.perform(.cancel) }
        let status = try key.verify(replies().last, ManagedMachine.digest)
        #expect(status == (passcode == "abcdef" ? .vaultUnavailable : .userCancel))
        try managed.sign(key, managed.type).expect("passcode")
    }
}
