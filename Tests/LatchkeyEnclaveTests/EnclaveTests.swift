// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import LatchkeyService
import SeamStandIns
import SimulatedDriver
import SoftwareEnclaveDriver
import SystemDriver
import TestSupport
import Testing

/// The enclave checks the proof for every use, and leaves no use begun behind that it refuses.
@Suite struct EnclaveTests {
    private static let caller = Caller(groups: [], label: "test", processID: 1, userID: 1)
    private static let proof = Authorisation.testOnly([.biometry], by: caller)
    private static let operation = EnclaveOperation.sign(digest: [UInt8](repeating: 1, count: 32))
    private let software: SoftwareEnclave
    private let approving: ApprovingKeyModule
    private let rule = AccessControl(accessibility: .whenUnlocked, constraints: [.biometryAny, .privateKeyUsage])

    init() {
        let (clock, random) = (VirtualClock(), SystemRandomSource())
        software = SoftwareEnclave(clock: clock, random: random)
        approving = ApprovingKeyModule(software, clock: clock, random: random)
    }

    /// Expects that no use is begun: the module accepts as many as it ever does.
    private func expectNoneBegun(_ module: any KeyModule, _ blob: SecretBytes) throws {
        for _ in 0..<Limits.begunKeyUses { _ = try module.begin(blob, Self.operation) }
    }

    @Test func aProofIsRequiredAtTheSecondStepToo() throws {
        let enclave = Enclave(software, approver: StandInApprover(), storeID: [])
        let key = try enclave.create(KeyProperties(accessControl: rule))
        let wrong = Authorisation.testOnly([.passcode], by: Self.caller)
        let use = try enclave.begin(Self.operation, key.blob, accessControl: rule)
        #expect(
            status { _ = try enclave.finish(use, proof: wrong, approval: nil, password: nil) }
                == .itemAuthenticationFailed)
        #expect(status { _ = try enclave.finish(use, proof: Self.proof, approval: nil, password: nil) } == .timedOut)
        #expect(
            status { _ = try enclave.perform(Self.operation, key.blob, accessControl: rule, proof: wrong) }
                == .itemAuthenticationFailed)
        try expectNoneBegun(software, key.blob)
    }

    @Test func aModuleThatNeedsAnApprovalIsUsedOnlyWithOne() throws {
        let refusing = StandInApprover(refusal: Failure(.notPermitted))
        let refused = Enclave(approving, approver: refusing, storeID: [7])
        let key = try refused.create(KeyProperties(accessControl: rule))
        #expect(
            status { _ = try refused.perform(Self.operation, key.blob, accessControl: rule, proof: Self.proof) }
                == .notPermitted)
        let use = try refused.begin(Self.operation, key.blob, accessControl: rule)
        #expect(
            status { _ = try refused.finish(use, proof: Self.proof, approval: nil, password: nil) }
                == .itemAuthenticationFailed)
        try expectNoneBegun(approving, key.blob)
    }

    @Test func theAuthorityIsAskedForTheRuleTheStoreAndTheChallengeOfTheUse() throws {
        let approver = StandInApprover()
        let enclave = Enclave(approving, approver: approver, storeID: [7])
        let key = try enclave.create(KeyProperties(accessControl: rule))
        let result = try enclave.perform(Self.operation, key.blob, accessControl: rule, proof: Self.proof)
        #expect(result.count == 64)
        let request = try #require(approver.requests.first)
        #expect(approver.requests.count == 1 && request.accessControl == rule && request.storeID == [7])
        #expect(request.subject.parameters == [UInt8](repeating: 1, count: 32) && !request.nonce.isEmpty)
        try expectNoneBegun(approving, key.blob)
    }

    @Test func aKeyIsUsedByTheModuleThatMadeIt() throws {
        let made = try software.create(KeyProperties(accessControl: rule))
        let other = OtherKeyModule()
        let enclave = Enclave(other, earlier: [software], approver: StandInApprover(), storeID: [])
        #expect(try enclave.perform(Self.operation, made.blob, accessControl: rule, proof: Self.proof).count == 64)
        let alone = Enclave(other, approver: StandInApprover(), storeID: [])
        #expect(
            status { _ = try alone.perform(Self.operation, made.blob, accessControl: rule, proof: Self.proof) }
                == .enclaveUnavailable)
    }

    @Test func aKeyWithoutPrivateKeyUsageIsNeverLoaded() throws {
        let enclave = Enclave(software, approver: StandInApprover(), storeID: [])
        let key = try enclave.create(KeyProperties(accessControl: rule))
        let unusable = AccessControl(accessibility: .whenUnlocked, constraints: .biometryAny)
        #expect(
            status { _ = try enclave.begin(Self.operation, key.blob, accessControl: unusable) } == .keyUsageNotAllowed)
        #expect(
            status { _ = try enclave.perform(Self.operation, key.blob, accessControl: unusable, proof: Self.proof) }
                == .keyUsageNotAllowed)
        try expectNoneBegun(software, key.blob)
    }

    @Test func theDeviceIsIdentifiedOnlyWithAProofOfThePerson() throws {
        let module = AttestingKeyModule(software)
        let enclave = Enclave(module, approver: StandInApprover(), storeID: [])
        #expect(status { _ = try enclave.newAttestationKey(proof: .none) } == .itemAuthenticationFailed)
        #expect(module.calls.isEmpty)
        #expect(status { _ = try enclave.newAttestationKey(proof: Self.proof) } == nil)
    }

    @Test func aKeyIsAttestedOnlyWithTheProofOfItsUse() throws {
        let module = AttestingKeyModule(software)
        let enclave = Enclave(module, approver: StandInApprover(), storeID: [])
        let key = try enclave.create(KeyProperties(accessControl: rule))
        func attest(_ rule: AccessControl, _ proof: Authorisation) -> Status? {
            status {
                _ = try enclave.attest(key.blob, by: SecretBytes([4]), nonce: [1], accessControl: rule, proof: proof)
            }
        }
        let unusable = AccessControl(accessibility: .whenUnlocked, constraints: .biometryAny)
        #expect(attest(rule, .none) == .itemAuthenticationFailed)
        #expect(attest(unusable, Self.proof) == .keyUsageNotAllowed)
        #expect(module.calls.isEmpty)
        #expect(attest(rule, Self.proof) == nil)
    }
}

/// A module that made none of the keys.
private final class OtherKeyModule: KeyModule {
    private static let unused = Failure(.internalFailure)
    var kind: EnclaveKind { .tpm }
    var isImmediate: Bool { true }
    var checksApprovals: Bool { false }
    func recognises(_ blob: SecretBytes) -> Bool { false }
    func create(_ properties: KeyProperties) throws(Failure) -> ModuleKey { throw Self.unused }
    func begin(_ blob: SecretBytes, _ operation: EnclaveOperation) throws(Failure) -> KeyChallenge { throw Self.unused }
    func finish(
        _ use: KeyChallenge.Identifier, approval: KeyApproval?, password: SecretBytes?
    ) throws(Failure) -> SecretBytes { throw Self.unused }
    func abandon(_ use: KeyChallenge.Identifier) {}
    func newAttestationKey() throws(Failure) -> AttestationKey { throw Self.unused }
    func answer(_ challenge: [UInt8], by attestationKey: SecretBytes) throws(Failure) -> [UInt8] { throw Self.unused }
    func attest(
        _ blob: SecretBytes, by attestationKey: SecretBytes, nonce: [UInt8]
    ) throws(Failure) -> [UInt8] { throw Self.unused }
    func erase(_ blob: SecretBytes) throws(Failure) { throw Self.unused }
}
