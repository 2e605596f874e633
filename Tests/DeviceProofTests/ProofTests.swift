// SPDX-License-Identifier: Apache-2.0

import DeviceProof
import Foundation
import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import TPMProtocol
import TestSupport
import Testing

/// The proof of a real TPM is accepted, and no other for it.
@Suite(.needs(.softwareTPM)) struct TPMProofTests {
    private let device: TestDevice
    private let attestationKey: AttestationKey
    private let enrolled: EnrolledDevice
    private let verifier: Verifier
    private let nonce = [UInt8](repeating: 9, count: 32)

    init() throws {
        let maker = try TestMaker()
        device = try TestDevice()
        verifier = try Verifier(roots: [maker.root()])
        attestationKey = try device.newAttestationKey(certifiedBy: maker)
        let pending = try verifier.begin(attestationKey.request, at: now)
        enrolled = try pending.finish(device.enclave.answer(pending.challenge, by: attestationKey.blob))
    }

    @Test func theTwoPropertiesOfAKeyAreReportedSeparately() throws {
        for password in [nil, SecretBytes([UInt8](repeating: 7, count: 32))] {
            let key = try device.newKey(password: password)
            let proof = try device.enclave.attest(key.blob, by: attestationKey.blob, nonce: nonce)
            let proven = try verifier.verify(proof, of: key.publicKey, nonce: nonce, by: enrolled)
            #expect(proven.keyCannotLeaveDevice == .hardware(manufacturer: "id:49465800", model: "SLB9670"))
            let claim = proven.userVerificationClaimed
            #expect(try claim.authority == TestDevice.authority.get() && claim.reference == TestDevice.reference)
            #expect(claim.requiresApplicationPassword == (password != nil))
        }
    }

    @Test func aProofIsForOneKeyAndOneNonce() throws {
        let keys = try (0..<2).map { _ in try device.newKey() }
        let proof = try device.enclave.attest(keys[0].blob, by: attestationKey.blob, nonce: nonce)
        let other = [UInt8](repeating: 10, count: 32)
        #expect(
            #expect(throws: DeviceProofError.self) {
                try verifier.verify(proof, of: keys[0].publicKey, nonce: other, by: enrolled)
            }?.code == .wrongNonce)
        #expect(
            #expect(throws: DeviceProofError.self) {
                try verifier.verify(proof, of: keys[1].publicKey, nonce: nonce, by: enrolled)
            }?.code == .otherPublicKey)
    }

    /// The memory of the TPM has room for three keys and three sessions.
    @Test func begunUsesOfKeysAreFinishedAfterAnEnrolmentAndAProof() throws {
        let key = try device.newKey()
        let operation = EnclaveOperation.sign(digest: [UInt8](repeating: 1, count: 32))
        let uses = try (0..<3).map { _ in try device.enclave.begin(key.blob, operation) }
        // The session of the first use is cached for a later one.
        try device.finish(uses[0])
        let pending = try verifier.begin(attestationKey.request, at: now)
        _ = try pending.finish(device.enclave.answer(pending.challenge, by: attestationKey.blob))
        try device.finish(uses[1])
        let proof = try device.enclave.attest(key.blob, by: attestationKey.blob, nonce: nonce)
        _ = try verifier.verify(proof, of: key.publicKey, nonce: nonce, by: enrolled)
        try device.finish(uses[2])
    }

    @Test func anotherAttestationKeyOfTheSameDeviceIsRefused() throws {
        let key = try device.newKey()
        let other = try device.enclave.newAttestationKey()
        let proof = try device.enclave.attest(key.blob, by: other.blob, nonce: nonce)
        #expect(
            #expect(throws: DeviceProofError.self) {
                try verifier.verify(proof, of: key.publicKey, nonce: nonce, by: enrolled)
            }?.code == .wrongSignature)
    }

    /// A program in another language follows the document and comes to the same result.
    @Test func anIndependentProgramAcceptsTheProof() throws {
        let key = try device.newKey()
        let program = try OtherProgram()
        let proof = try device.enclave.attest(key.blob, by: attestationKey.blob, nonce: nonce)
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(component: "check-proof.py").path
        let arguments =
            ["python3", script] + [enrolled.attestationKey, proof, key.publicKey, nonce].map(text)
        #expect(try program.end(arguments).isContent)
        for (index, changed) in [(2, enrolled.attestationKey), (3, proof), (4, key.publicKey), (5, nonce)] {
            var arguments = arguments
            var changed = changed
            changed[changed.count - 1] ^= 1
            arguments[index] = text(changed)
            #expect(try !program.end(arguments).isContent)
        }
    }
}

/// Bytes as hexadecimal digits.
private func text(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
