// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SeamStandIns
import SimulatedDriver
import SoftwareEnclaveDriver
import SystemDriver
import TPMDriver
import TestSupport
import Testing

/// A driver that the contract tests of `KeyModule` run against.
struct Driver: Sendable, CustomTestStringConvertible {
    let name: String
    /// Whether a use needs an approval.
    let needsApproval: Bool
    private let module: @Sendable (any Clock) -> any KeyModule
    /// Gives the approval that a challenge needs; nil if it needs none.
    let approve: @Sendable (KeyChallenge) -> KeyApproval?

    var testDescription: String { name }

    /// All drivers. A new driver is added here and must pass every test unchanged.
    static let all = simple + (Need.softwareTPM.isMet() ? [tpm] : [])

    private static let simple = [
        Driver(name: "software", needsApproval: false) {
            SoftwareEnclave(clock: $0, random: SystemRandomSource())
        } approve: { _ in
            nil
        },
        Driver(name: "stand-in that checks approvals", needsApproval: true) {
            let random = SystemRandomSource()
            return ApprovingKeyModule(SoftwareEnclave(clock: $0, random: random), clock: $0, random: random)
        } approve: {
            ApprovingKeyModule.approval(of: $0)
        },
    ]

    /// The TPM of the test, with an authority that approves every challenge.
    static let tpm = Driver(name: "TPM", needsApproval: true) { clock in
        TPMEnclave(TPMOfThisTest.chip, clock: clock, allowsVirtual: true)
    } approve: {
        TestAuthority.approval(of: $0)
    }

    init(
        name: String, needsApproval: Bool, module: @escaping @Sendable (any Clock) -> any KeyModule,
        approve: @escaping @Sendable (KeyChallenge) -> KeyApproval?
    ) {
        (self.name, self.needsApproval) = (name, needsApproval)
        (self.module, self.approve) = (module, approve)
    }

    /// Makes a new instance of the module.
    func make(_ clock: any Clock = VirtualClock()) -> any KeyModule { module(clock) }

    /// Finishes a use with the approval that it needs.
    @discardableResult
    func finish(
        _ module: any KeyModule, _ challenge: KeyChallenge, password: SecretBytes? = nil
    ) throws(Failure) -> SecretBytes {
        try module.finish(challenge.use, approval: approve(challenge), password: password)
    }

    /// Uses a key once.
    @discardableResult
    func use(
        _ module: any KeyModule, _ key: ModuleKey, _ operation: EnclaveOperation, password: SecretBytes? = nil
    ) throws(Failure) -> SecretBytes {
        try finish(module, try module.begin(key.blob, operation), password: password)
    }
}

extension KeyModule {
    /// Creates a key without constraints besides its use.
    func newKey(password: SecretBytes? = nil) throws(Failure) -> ModuleKey {
        try create(
            KeyProperties(
                accessControl: AccessControl(
                    accessibility: .whenUnlockedThisDeviceOnly, constraints: [.privateKeyUsage]), password: password,
                binding: checksApprovals ? TestAuthority.binding : nil))
    }
}
