// SPDX-License-Identifier: Apache-2.0

import LatchkeyEnclave
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
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
        let enclave = Enclave(software)
        let key = try enclave.create(KeyProperties(accessControl: rule))
        let wrong = Authorisation.testOnly([.passcode], by: Self.caller)
        let use = try enclave.begin(Self.operation, key.blob, rule: rule)
        #expect(
            status { _ = try enclave.finish(use, proof: wrong, approval: nil, password: nil) }
                == .itemAuthenticationFailed)
        #expect(status { _ = try enclave.finish(use, proof: Self.proof, approval: nil, password: nil) } == .timedOut)
        #expect(
            status { _ = try enclave.perform(Self.operation, key.blob, rule: rule, proof: wrong) }
                == .itemAuthenticationFailed)
        try expectNoneBegun(software, key.blob)
    }

    @Test func aModuleThatNeedsAnApprovalIsNotUsedWithoutOne() throws {
        let enclave = Enclave(approving)
        let key = try enclave.create(KeyProperties(accessControl: rule))
        #expect(
            status { _ = try enclave.perform(Self.operation, key.blob, rule: rule, proof: Self.proof) }
                == .itemAuthenticationFailed)
        let use = try enclave.begin(Self.operation, key.blob, rule: rule)
        let approval = ApprovingKeyModule.approval(of: use.challenge)
        #expect(try enclave.finish(use, proof: Self.proof, approval: approval, password: nil).count == 64)
        try expectNoneBegun(approving, key.blob)
    }

    @Test func aKeyWithoutPrivateKeyUsageIsNeverLoaded() throws {
        let enclave = Enclave(software)
        let key = try enclave.create(KeyProperties(accessControl: rule))
        let unusable = AccessControl(accessibility: .whenUnlocked, constraints: .biometryAny)
        #expect(status { _ = try enclave.begin(Self.operation, key.blob, rule: unusable) } == .keyUsageNotAllowed)
        #expect(
            status { _ = try enclave.perform(Self.operation, key.blob, rule: unusable, proof: Self.proof) }
                == .keyUsageNotAllowed)
        try expectNoneBegun(software, key.blob)
    }
}
