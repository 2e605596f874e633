// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SystemDriver
import TPMDriver
import TPMProtocol
import Testing

/// Keys that demand the passcode of the TPM itself, and the process that proves it; the commands of that process are
/// carried, as in the services.
struct TPMPasscodeKeys {
    static let value = SecretBytes([UInt8](0x41..<0x61))
    static let digest = [UInt8](repeating: 0xa5, count: 32)
    let module: TPMEnclave
    let passcodes: TPMPasscodeChip

    init(_ chip: TPMChip) {
        module = TPMEnclave(chip, clock: SystemClock(), allowsVirtual: true)
        passcodes = TPMPasscodeChip(
            carriedBy: chip, clock: SystemClock(), random: SystemRandomSource())
    }

    func make(
        _ part: PasscodeDemand.Part, password: SecretBytes? = nil
    ) throws -> (key: ModuleKey, record: [UInt8]) {
        let record = try passcodes.create(passcodes.plan(), Self.value).record
        let key = try module.create(
            KeyProperties(
                accessControl: AccessControl(
                    accessibility: .whenUnlockedThisDeviceOnly, constraints: [.devicePasscode, .privateKeyUsage]),
                password: password,
                binding: KeyBinding(
                    authority: TestAuthority.binding.authority, reference: TestAuthority.binding.reference,
                    passcode: PasscodeDemand(part, verifier: passcodes.verifier(of: record)))))
        return (key, record)
    }

    func begin(_ key: ModuleKey, _ digest: [UInt8] = Self.digest) throws -> KeyChallenge {
        try module.begin(key.blob, .sign(digest: digest))
    }

    /// Proves the passcode for what a challenge is for, or for another one; returns whether the TPM accepts it.
    func isProven(
        _ challenge: KeyChallenge, _ record: [UInt8], for other: KeyChallenge? = nil
    ) throws -> Bool {
        let subject = try #require((other ?? challenge).subject)
        let proof = KeyPasscodeProof(
            session: challenge.session, nonce: challenge.nonce,
            command: try CommandDigest.command(
                number: subject.command, names: [subject.keyName], parameters: subject.parameters),
            reference: subject.policyReference, expirySeconds: 3600)
        return try passcodes.prove(record, Self.value, proof)
    }

    /// Finishes a use.
    @discardableResult
    func finish(
        _ challenge: KeyChallenge, isSigned: Bool, isPasscodeProven: Bool = true, password: SecretBytes? = nil
    ) throws -> SecretBytes {
        var approval = try #require(TestAuthority.approval(of: challenge))
        if !isSigned { approval.signature = [] }
        approval.isPasscodeProven = isPasscodeProven
        return try module.finish(challenge.use, approval: approval, password: password)
    }

    /// Uses a key once, by the passcode, and by the authority's signature as well if `isSigned`.
    func use(_ key: ModuleKey, _ record: [UInt8], isSigned: Bool = false) throws {
        let challenge = try begin(key)
        #expect(try isProven(challenge, record))
        try finish(challenge, isSigned: isSigned)
    }
}
