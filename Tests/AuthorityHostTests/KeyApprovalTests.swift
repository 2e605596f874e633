// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import LatchkeyWire
import SimulatedDriver
import TPMProtocol
import TestPromises
import Testing

@testable import AuthorityDaemon

/// `latchkey-authd` approves the use of a key only for a person that it saw itself, whatever `latchkeyd` asks for.
@Suite struct KeyApprovalTests {
    private let machine: TwoServices
    private let storeID = [UInt8](repeating: 7, count: 16)
    private let keyName = Self.name(1)
    private static let finger = AccessControl(
        accessibility: .whenUnlockedThisDeviceOnly, constraints: [.biometryAny, .privateKeyUsage])
    private static let free = AccessControl(
        accessibility: .whenUnlockedThisDeviceOnly, constraints: .privateKeyUsage)

    init() throws {
        machine = try TwoServices()
        #expect(machine.setPasscode("abcdef") == [.done])
    }

    /// A name of the TPM's form.
    private static func name(_ byte: UInt8) -> [UInt8] { [0, 0x0b] + [UInt8](repeating: byte, count: 32) }

    private func binding(_ rule: AccessControl) throws -> AuthorityReply {
        let bind = AuthorityCall.BindKey(userID: TwoServices.userID, storeID: storeID, accessControl: rule)
        return try #require(try machine.call(.bindKey(bind)).first)
    }

    private func reference(_ rule: AccessControl) throws -> [UInt8] {
        guard case .keyBinding(let binding) = try binding(rule) else { throw Failure(.internalFailure) }
        return binding.reference
    }

    /// Asks for the approval of a signature; returns nil if it was given, otherwise the status of the refusal.
    private func approve(
        _ rule: AccessControl, tokens: [[UInt8]] = [], key: [UInt8]? = nil, command: UInt32 = 0x15d,
        reference: [UInt8]? = nil, nonce: [UInt8] = [UInt8](repeating: 4, count: 16)
    ) throws -> Status? {
        let request = KeyApprovalRequest(
            storeID: storeID, accessControl: rule,
            subject: ApprovalSubject(
                keyName: key ?? keyName, command: command, parameters: [1, 2, 3],
                policyReference: try reference ?? self.reference(rule)),
            nonce: nonce, tokens: tokens)
        let approve = AuthorityCall.Approve(userID: TwoServices.userID, request: request)
        let reply = try #require(try machine.call(.approve(approve), number: 9500).first)
        switch reply {
        case .approved: return nil
        case .failure(let failure): return failure.status
        default: throw Failure(.internalFailure)
        }
    }

    /// Shows a prompt that the finger answers; returns the challenge of the token.
    private func touch(_ uses: KeyUses = .one, _ methods: Set<AuthenticationMethod> = [.biometry]) throws -> [UInt8] {
        let challenge = try machine.random.bytes(32).copyBytes()
        let evaluate = AuthenticationRequest(
            plan: AuthenticationPlan([methods]), process: TwoServices.process, purpose: .app,
            challenge: challenge, binding: [UInt8](repeating: 0, count: 32), keyUses: uses)
        _ = try machine.call(.evaluate(evaluate), number: UInt64.random(in: 10_000...1_000_000))
        if methods == [.biometry] {
            _ = try machine.world.apply(.touch(matching: true))
        } else {
            machine.world.perform(.passcode(SecretBytes("abcdef".utf8)))
        }
        return challenge
    }

    @Test(.promise("attacker.latchkeyd")) func aTouchApprovesOneUse() throws {
        #expect(try approve(Self.finger) == .notPermitted)
        let token = try touch()
        #expect(try approve(Self.finger, tokens: [token]) == nil)
        #expect(try approve(Self.finger, tokens: [token]) == .notPermitted)
    }

    @Test func theTokenOfAContextApprovesOneKeyOnly() throws {
        let token = try touch(.oneKey)
        for _ in 1...3 { #expect(try approve(Self.finger, tokens: [token]) == nil) }
        #expect(try approve(Self.finger, tokens: [token], key: Self.name(2)) == .notPermitted)
        #expect(try approve(Self.finger, tokens: [token]) == nil)
    }

    @Test func theEndOfAKeysNameCannotBeMovedIntoTheParameters() throws {
        let token = try touch(.oneKey)
        let wrong = [[], Array(keyName.prefix(33)), keyName + [0], [UInt8](repeating: 1, count: 34)]
        for name in wrong {
            #expect(try approve(Self.finger, tokens: [token], key: name) == .invalidParameter)
        }
        #expect(try approve(Self.finger, tokens: [token]) == nil)
    }

    @Test func theTokenOfAProgramThatHasEndedApprovesNothing() throws {
        let token = try touch(.oneKey)
        #expect(try approve(Self.finger, tokens: [token]) == nil)
        machine.endProcess()
        #expect(try approve(Self.finger, tokens: [token]) == .notPermitted)
    }

    @Test func aTokenThatWasNeverIssuedApprovesNothing() throws {
        _ = try touch()
        #expect(try approve(Self.finger, tokens: [[UInt8](repeating: 0, count: 32)]) == .notPermitted)
    }

    @Test func aPasscodeApprovesNoKeyThatNeedsAFinger() throws {
        let token = try touch(.oneKey, [.passcode])
        #expect(try approve(Self.finger, tokens: [token]) == .notPermitted)
    }

    @Test func aRefusedEvaluationApprovesNothing() throws {
        let challenge = try machine.random.bytes(32).copyBytes()
        let evaluate = AuthenticationRequest(
            plan: AuthenticationPlan([[.biometry]]), process: TwoServices.process, purpose: .app,
            challenge: challenge, binding: [UInt8](repeating: 0, count: 32), keyUses: .oneKey)
        _ = try machine.call(.evaluate(evaluate), number: 9600)
        #expect(try approve(Self.finger, tokens: [challenge]) == .notPermitted)
    }

    /// latchkeyd may lie about the access control, but then the reference is another one, which the key does not have.
    @Test(.promise("attacker.latchkeyd")) func aKeyIsNotApprovedUnderAnotherAccessControl() throws {
        let reference = try reference(Self.finger)
        #expect(try approve(Self.free, reference: reference) == .itemAuthenticationFailed)
        #expect(try approve(Self.free) == nil)
        #expect(try self.reference(Self.free) != reference)
    }

    @Test func onlySignaturesAndKeyAgreementsAreApproved() throws {
        #expect(try approve(Self.free, command: 0x154) == nil)
        // TPM2_Create, TPM2_Duplicate, TPM2_ObjectChangeAuth, TPM2_Unseal, and no command.
        for command in [0x153, 0x14b, 0x150, 0x15e, 0] as [UInt32] {
            #expect(try approve(Self.free, command: command) == .notPermitted, "\(command)")
        }
    }

    @Test func anApprovalForEverySessionIsNotGiven() throws {
        for count in [0, 8, 15] {
            #expect(try approve(Self.free, nonce: [UInt8](repeating: 4, count: count)) == .invalidParameter)
        }
    }

    @Test func tokensEndWithTheLockAndTheConnection() throws {
        var token = try touch(.oneKey)
        _ = try machine.call(.change(AuthorityCall.Change(userID: TwoServices.userID, kind: .locked)), number: 9700)
        #expect(try approve(Self.finger, tokens: [token]) == .notPermitted)
        #expect(try approve(Self.free) == .notPermitted, "the class of the key is closed while the device is locked")
        _ = try machine.call(.change(AuthorityCall.Change(userID: TwoServices.userID, kind: .unlocked)), number: 9701)
        #expect(try approve(Self.finger, tokens: [token]) == .notPermitted)
        token = try touch(.oneKey)
        #expect(try approve(Self.finger, tokens: [token]) == nil)
        machine.crashAuthority()
        machine.clock.advance(seconds: 2)
        #expect(try approve(Self.finger, tokens: [token]) == .notPermitted)
    }

    @Test func aTokenOfEarlierFingersApprovesNothing_abuse32() throws {
        let token = try touch(.oneKey)
        _ = try machine.world.apply(.replaceFinger)
        #expect(try approve(Self.finger, tokens: [token]) == .notPermitted)
        let earlier = try reference(Self.current)
        _ = try machine.world.apply(.replaceFinger)
        #expect(try reference(Self.current) != earlier)
    }

    private static let current = AccessControl(
        accessibility: .whenUnlockedThisDeviceOnly, constraints: [.biometryCurrentSet, .privateKeyUsage])

    /// latchkeyd may have kept the blob of a deleted key; the person only sees a prompt for a touch.
    @Test func aKeyOfAnEarlierTimeOfTheSameFingersIsNotApproved_abuse31() throws {
        let earlier = try reference(Self.current)
        let first = try touch(.oneKey)
        #expect(try approve(Self.current, tokens: [first], reference: earlier) == nil)
        try machine.world.enroll([9])
        try machine.world.enroll([1, 2, 3])
        let token = try touch(.oneKey)
        #expect(try approve(Self.current, tokens: [token], reference: earlier) == .itemAuthenticationFailed)
        let now = try reference(Self.current)
        #expect(now != earlier)
        #expect(try approve(Self.current, tokens: [token], reference: now) == nil)
        machine.crashAuthority()
        machine.clock.advance(seconds: 2)
        #expect(try reference(Self.current) == now, "the time is kept")
    }

    @Test func theSameFingersOutliveARestart() throws {
        let earlier = try reference(Self.current)
        machine.crashAuthority()
        machine.clock.advance(seconds: 2)
        #expect(try reference(Self.current) == earlier)
    }

    @Test func aSensorThatIsUnpluggedChangesNoFingers() throws {
        let earlier = try reference(Self.current)
        _ = try machine.world.apply(.sensor(.none))
        _ = try machine.world.apply(.sensor(.touchID))
        #expect(try reference(Self.current) == earlier)
    }

    @Test func aChangedRecordOfTheFingersIsReportedAndNotReplaced() throws {
        _ = try reference(Self.current)
        let file = "\(machine.disk.folder.path)/\(TwoServices.userID)/enrolment"
        var damaged = try Data(contentsOf: URL(filePath: file))
        damaged[damaged.count - 1] ^= 1
        try damaged.write(to: URL(filePath: file))
        machine.crashAuthority()
        machine.clock.advance(seconds: 2)
        guard case .failure = try binding(Self.current) else {
            Issue.record("the damaged record was replaced")
            return
        }
        #expect(try Data(contentsOf: URL(filePath: file)) == damaged)
    }

    @Test func aKeyForAPairedDeviceIsNotBound() throws {
        let rule = AccessControl(
            accessibility: .whenUnlockedThisDeviceOnly, constraints: [.companion, .privateKeyUsage])
        guard case .failure(let failure) = try binding(rule) else {
            Issue.record("it was bound")
            return
        }
        #expect(failure.status == .invalidParameter)
    }

    /// Losing it would make all keys useless, so a damaged one is reported and never replaced.
    @Test func theKeyForApprovalsOutlivesTheServiceAndIsNeverReplaced() throws {
        let reply = try binding(Self.free)
        machine.crashAuthority()
        machine.clock.advance(seconds: 2)
        #expect(try binding(Self.free) == reply)
        try machine.damageApprovalKey()
        machine.crashAuthority()
        machine.clock.advance(seconds: 4)
        guard case .failure(let failure) = try binding(Self.free) else {
            Issue.record("the damaged key was replaced")
            return
        }
        #expect(failure.status == .storeUnreadable)
    }
}
