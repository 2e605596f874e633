// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import LatchkeyWire
import SimulatedDriver
import Synchronization
import TPMDriver
import TPMProtocol
import TestSupport
import Testing

@testable import AuthorityDaemon

/// Keys of tier `tpm` whose access control accepts the passcode: the TPM itself demands it, latchkey-authd proves it, and
/// latchkeyd carries the proof.
@Suite(.needs(.softwareTPM)) struct KeyPasscodeTests {
    private let machine: TwoServices
    private let tpm: SwitchedTPM
    private let digest = [UInt8](repeating: 0xa5, count: 32)

    init() throws {
        tpm = try SwitchedTPM()
        machine = try TwoServices(tpm: tpm)
    }

    // MARK: - What an app and a person do

    private func makeKey(
        _ constraints: AccessConstraints, password: SecretBytes? = nil
    ) throws -> EnclaveKey {
        let request = Request.CreateEnclaveKey(
            attributes: [.label: .text("\(constraints.rawValue) \(UInt64.random(in: 0...UInt64.max))")],
            accessControl: AccessControl(
                accessibility: .whenUnlockedThisDeviceOnly, constraints: constraints.union(.privateKeyUsage)),
            isPermanent: true, authentication: Authentication(applicationPassword: password))
        let reply = machine.answers(machine.session(), .createEnclaveKey(request))().last
        guard case .enclaveKey(let key)? = reply else { throw UnexpectedReply(reply: reply) }
        return key
    }

    /// What a person does at a prompt.
    private enum Deed {
        case passcode(String)
        case touch
    }

    /// Signs; returns the status of a refusal, nil if the signature is right.
    private func sign(
        _ key: EnclaveKey, _ deeds: Deed..., session: Session? = nil, context: ContextHandle? = nil,
        password: SecretBytes? = nil
    ) throws -> Status? {
        let request = Request.UseEnclaveKey(
            name: key.name, operation: .sign(digest: digest),
            authentication: Authentication(context: context, applicationPassword: password))
        let replies = machine.answers(session ?? machine.session(), .useEnclaveKey(request))
        for deed in deeds {
            switch deed {
            case .touch: _ = try machine.world.apply(.touch(matching: true))
            case .passcode(let passcode):
                if machine.seen.shown?.asks(for: .biometry) == true {
                    // The button for the passcode is shown after a failed touch.
                    _ = try machine.world.apply(.touch(matching: false))
                    machine.world.perform(.fallback)
                }
                machine.world.perform(.passcode(SecretBytes(passcode.utf8)))
            }
        }
        if replies().isEmpty { machine.world.perform(.cancel) }
        return try key.verify(replies().last, digest)
    }

    /// The approvals that latchkey-authd gave since the last call.
    private func approvals(_ seen: inout Int) -> [KeyApproval] {
        let frames = machine.frames[seen...]
        seen = machine.frames.count
        return frames.compactMap { frame in
            guard case .authorityReply(_, .approved(let approval))? = try? ServiceMessage(decoding: frame) else {
                return nil
            }
            return approval
        }
    }

    private func removePasscode(_ passcode: String) -> [Reply] {
        let replies = machine.answers(machine.session(), .passcode(.remove))
        machine.world.perform(.passcode(SecretBytes(passcode.utf8)))
        return replies()
    }

    // MARK: - Which proof the TPM gets

    @Test func thePasscodeIsProvenToTheTPMAndNothingIsSigned() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let key = try makeKey(.devicePasscode)
        var seen = machine.frames.count
        #expect(try sign(key, .passcode("abcdef")) == nil)
        #expect(approvals(&seen) == [KeyApproval(expirySeconds: 60, signature: [], isPasscodeProven: true)])
    }

    @Test func userPresenceIsProvenByTheFingerOrByThePasscode() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let key = try makeKey(.userPresence)
        var seen = machine.frames.count
        #expect(try sign(key, .touch) == nil)
        let touched = approvals(&seen)
        #expect(touched.map(\.isPasscodeProven) == [false] && touched.map(\.signature.count) == [64])
        #expect(try sign(key, .passcode("abcdef")) == nil)
        let typed = approvals(&seen)
        #expect(typed.map(\.isPasscodeProven) == [true] && typed.map(\.signature.count) == [0])
    }

    @Test func fingerAndPasscodeAreBothProven() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let key = try makeKey([.biometryAny, .devicePasscode, .and])
        var seen = machine.frames.count
        #expect(try sign(key, .touch, .passcode("abcdef")) == nil)
        let approvals = approvals(&seen)
        #expect(approvals.map(\.isPasscodeProven) == [true] && approvals.map(\.signature.count) == [64])
    }

    @Test func theApplicationPasswordIsNeededBesides() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let (right, wrong) = (SecretBytes("open".utf8), SecretBytes("shut".utf8))
        for constraints in [AccessConstraints.devicePasscode, [.userPresence]] {
            let key = try makeKey(constraints.union(.applicationPassword), password: right)
            #expect(try sign(key, .passcode("abcdef"), password: right) == nil)
            #expect(try sign(key, .passcode("abcdef"), password: wrong) != nil)
        }
    }

    @Test func aKeyOfTheFingerHasNoPasscodeInItsPolicy() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        var seen = machine.frames.count
        let key = try makeKey(.biometryAny)
        #expect(try sign(key, .touch) == nil)
        #expect(approvals(&seen).map(\.isPasscodeProven) == [false])
    }

    /// A key of an earlier version, or made while there was no passcode: the authority decides about the passcode.
    @Test func aKeyThatWasMadeBeforeThePasscodeGoesOnWorking() throws {
        let key = try makeKey(.userPresence)
        #expect(machine.setPasscode("abcdef") == [.done])
        var seen = machine.frames.count
        #expect(try sign(key, .passcode("abcdef")) == nil)
        #expect(approvals(&seen).map(\.isPasscodeProven) == [false])
    }

    // MARK: - One passcode, several uses

    @Test func aPasscodeThatWasTypedOnceIsProvenForFiveMinutes() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let key = try makeKey(.devicePasscode)
        let session = machine.session()
        let context = try machine.context(session)
        #expect(try sign(key, .passcode("abcdef"), session: session, context: context) == nil)
        machine.clock.advance(seconds: Limits.passcodeValueSeconds - 1)
        for _ in 1...2 { #expect(try sign(key, session: session, context: context) == nil) }
        machine.clock.advance(seconds: 1)
        #expect(try sign(key, session: session, context: context) == .userCancel, "the prompt asks again")
        #expect(try sign(key, .passcode("abcdef"), session: session, context: context) == nil)
    }

    @Test func aPasscodeOfOneRequestIsProvenOnce() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let key = try makeKey(.devicePasscode)
        #expect(try sign(key, .passcode("abcdef")) == nil)
        #expect(try sign(key) == .userCancel)
    }

    @Test func afterTheLockThePasscodeIsAskedAgain() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let key = try makeKey(.devicePasscode)
        let session = machine.session()
        let context = try machine.context(session)
        #expect(try sign(key, .passcode("abcdef"), session: session, context: context) == nil)
        let user = TwoServices.userID
        _ = try machine.call(.change(AuthorityCall.Change(userID: user, kind: .locked)), number: 9700)
        _ = try machine.call(.change(AuthorityCall.Change(userID: user, kind: .unlocked)), number: 9701)
        #expect(try sign(key, session: session, context: context) == .userCancel)
    }

    // MARK: - Another passcode

    @Test func keysOutliveAChangeOfThePasscodeAndAskForTheNewOne() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let key = try makeKey(.devicePasscode)
        let session = machine.session()
        let context = try machine.context(session)
        #expect(try sign(key, .passcode("abcdef"), session: session, context: context) == nil)
        #expect(machine.changePasscode(from: "abcdef", to: "ghijkl") == [.done])
        // The value of the earlier passcode would count as a wrong one in the TPM.
        var wrong = 0
        machine.carry { (command, pass) throws(Failure) in try pass(command) }
        let seen = machine.frames.count
        #expect(try sign(key, session: session, context: context) == .userCancel)
        for frame in machine.frames[seen...] {
            if case .storeReply(_, .carried(let response))? = try? ServiceMessage(decoding: frame),
                response.bytes[6..<10].elementsEqual([0, 0, 9, 0xa2])
            {
                wrong += 1
            }
        }
        #expect(wrong == 0)
        #expect(try sign(key, .passcode("ghijkl"), session: session, context: context) == nil)
        #expect(try sign(key, .passcode("abcdef")) != nil)
    }

    @Test func aRemovedPasscodeTakesItsKeysWithItAndLeavesTheFinger() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let (alone, either) = (try makeKey(.devicePasscode), try makeKey(.userPresence))
        #expect(removePasscode("abcdef") == [.done])
        #expect(machine.setPasscode("ghijkl") == [.done])
        #expect(try sign(alone, .passcode("ghijkl")) == .itemAuthenticationFailed)
        #expect(try sign(either, .passcode("ghijkl")) == .itemAuthenticationFailed)
        #expect(try sign(either, .touch) == nil)
        #expect(try sign(makeKey(.devicePasscode), .passcode("ghijkl")) == nil)
    }

    // MARK: - A latchkeyd that lies

    /// It says that the TPM has refused the value; the key is not used, and the value is not tried again.
    @Test func aProofThatLatchkeydCallsWrongIsNotTriedAgain() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let key = try makeKey(.devicePasscode)
        let session = machine.session()
        let context = try machine.context(session)
        #expect(try sign(key, .passcode("abcdef"), session: session, context: context) == nil)
        let tries = Mutex(0)
        machine.carry { (command, pass) throws(Failure) in
            guard command.starts(with: [0x80, 2]), command[6..<10].elementsEqual([0, 0, 1, 0x51]) else {
                return try pass(command)
            }
            tries.withLock { $0 += 1 }
            return [0x80, 1, 0, 0, 0, 10, 0, 0, 9, 0xa2]
        }
        for _ in 1...3 { #expect(try sign(key, session: session, context: context) == .userCancel) }
        machine.carry(nil)
        #expect(tries.withLock { $0 } == 1)
        #expect(machine.authority.state.passcodeFailures == 0)
        #expect(try sign(key, .passcode("abcdef"), session: session, context: context) == nil)
    }

    /// It invents that a handle is gone, that there is no room, or that a session was flushed. Only the start of authd's own
    /// session may be repeated, which contains no value.
    @Test(arguments: [0x18b, 0x1c4, 0x902, 0x903, 0x910, 0x918] as [UInt32])
    func aValueIsTriedOnceWhateverLatchkeydAnswers(_ code: UInt32) throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let key = try makeKey(.devicePasscode)
        let session = machine.session()
        let context = try machine.context(session)
        #expect(try sign(key, .passcode("abcdef"), session: session, context: context) == nil)
        let tries = Mutex(0)
        machine.carry { (command, pass) throws(Failure) in
            guard command[6..<10].elementsEqual([0, 0, 1, 0x51]) else { return try pass(command) }
            // The TPM verifies the value, and latchkeyd says that it has not.
            _ = try pass(command)
            tries.withLock { $0 += 1 }
            return [0x80, 1, 0, 0, 0, 10, 0, 0, UInt8(code >> 8), UInt8(code & 0xff)]
        }
        #expect(try sign(key, session: session, context: context) != nil)
        machine.carry(nil)
        #expect(tries.withLock { $0 } == 1)
        #expect(try sign(key, .passcode("abcdef")) == nil)
    }

    @Test func twoCommandsAreCarriedForAProof() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let key = try makeKey(.devicePasscode)
        let session = machine.session()
        let context = try machine.context(session)
        #expect(try sign(key, .passcode("abcdef"), session: session, context: context) == nil)
        let carried = Recorder<UInt32>()
        machine.carry { (command, pass) throws(Failure) in
            carried.add(command[6..<10].reduce(0) { $0 << 8 | UInt32($1) })
            return try pass(command)
        }
        #expect(try sign(key, session: session, context: context) == nil)
        machine.carry(nil)
        #expect(carried.all == [TPMCommand.startAuthSession, .policySecret].map(\.rawValue))
    }

    /// A key that demands the passcode is not approved as one that relies on the authority, nor in another way.
    @Test func aKeyIsNotApprovedUnderAnotherDemand() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let rule = AccessControl(
            accessibility: .whenUnlockedThisDeviceOnly, constraints: [.devicePasscode, .privateKeyUsage])
        let storeID = [UInt8](repeating: 7, count: 16)
        let bind = AuthorityCall.BindKey(userID: TwoServices.userID, storeID: storeID, accessControl: rule)
        guard case .keyBinding(let binding)? = try machine.call(.bindKey(bind)).first else {
            Issue.record("the key was not bound")
            return
        }
        let demand = try #require(binding.passcode)
        #expect(demand.part == .alone && demand.verifier.count == 34)
        func refusal(_ claimed: PasscodeDemand?, _ reference: [UInt8]) throws -> Status? {
            let request = KeyApprovalRequest(
                storeID: storeID, accessControl: rule,
                subject: ApprovalSubject(
                    keyName: [0, 0x0b] + [UInt8](repeating: 1, count: 32), command: 0x15d, parameters: [1],
                    policyReference: reference, passcode: claimed),
                nonce: [UInt8](repeating: 4, count: 16), session: 0x0300_0000, tokens: [])
            let approve = AuthorityCall.Approve(userID: TwoServices.userID, request: request)
            guard case .failure(let failure)? = try machine.call(.approve(approve), number: 9500).first else {
                return nil
            }
            return failure.status
        }
        #expect(try refusal(demand, binding.reference) == .notPermitted, "no token was given")
        #expect(try refusal(nil, binding.reference) == .itemAuthenticationFailed)
        for part in [PasscodeDemand.Part.either, .both] {
            let claimed = PasscodeDemand(part, verifier: demand.verifier)
            #expect(try refusal(claimed, binding.reference) == .itemAuthenticationFailed)
            // A key that latchkeyd has made with the reference of that claim.
            let reference = try KeyPolicyReference.make(
                userID: TwoServices.userID, storeID: storeID, rule, enrolment: nil, passcode: part)
            #expect(try refusal(claimed, reference) == .itemAuthenticationFailed)
        }
    }

    /// It may have another index than the one that a key would name.
    @Test func noKeyIsBoundToAPasscodeThatIsNotSettled() throws {
        let record = try #require(
            PasscodeRecord(
                cost: 10, salt: [UInt8](repeating: 1, count: 16), passcodeID: [UInt8](repeating: 2, count: 16),
                chip: [1]))
        let chip = TPMPasscodeChip(try #require(machine.chip), random: machine.random)
        for records in [
            PasscodeRecords(prepared: record), PasscodeRecords(current: record, prepared: record),
        ] {
            #expect(status { _ = try PasscodeVerification(chip).verifier(records) } == .notPermitted)
        }
        #expect(try PasscodeVerification(chip).verifier(PasscodeRecords()) == nil)
        #expect(try PasscodeVerification(nil).verifier(PasscodeRecords(current: record)) == nil)
    }
}
