// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TPMProtocol

/// An enrolment whose challenge the device has not answered yet. Keep it in memory, and only for a few minutes.
public struct PendingEnrollment: Sendable {
    /// The message that the device must answer.
    public let challenge: [UInt8]
    let secret: SecretBytes
    let device: EnrolledDevice

    static let secretBytes = 32

    init(_ device: EnrolledDevice, _ name: [UInt8], _ endorsementKey: EndorsementKey) throws(Failure) {
        let secret = try randomSecret(Self.secretBytes)
        challenge = try Credential.challenge(secret, for: name, endorsementKey).encoded()
        self.secret = secret
        self.device = device
    }

    /// Check 2: the device returned the secret, so its attestation key is in the same TPM as the endorsement key.
    ///
    /// Computes only: it neither blocks nor prompts.
    ///
    /// - Parameter answer: the last message of the enrolment.
    /// - Returns: the device, which the relying party stores.
    /// - Throws: `malformed` or `wrongSecret` for an answer that is not accepted.
    public func finish(_ answer: [UInt8]) throws(DeviceProofError) -> EnrolledDevice {
        try Self.check(answer, secret, device)
    }

    static func check(
        _ answer: [UInt8], _ secret: SecretBytes, _ device: EnrolledDevice
    ) throws(DeviceProofError) -> EnrolledDevice {
        let message = try reading(.malformed, "The answer does not follow the format.") { () throws(Failure) in
            try EnrolmentAnswer(decoding: answer)
        }
        guard SecretBytes(message.secret) == secret else {
            throw DeviceProofError(.wrongSecret, "The answer does not contain the secret of the challenge.")
        }
        return device
    }
}

/// The public part of an attestation key.
struct AttestationPublicKey {
    private let key: PublicKey
    let name: [UInt8]

    /// Check 2: the key cannot leave its TPM, and signs only structures that the TPM makes itself.
    init(_ area: [UInt8]) throws(DeviceProofError) {
        let message: Phrase = "The attestation key is not one that signs only statements of its TPM."
        let decoded = try reading(.unsuitableAttestationKey, message) { () throws(Failure) in
            try TPMPublicArea(decoding: area)
        }
        guard decoded.hasForm(of: .attestationKey), let point = decoded.point,
            let key = PublicKey(point.external, type: .ellipticCurve(.p256))
        else { throw DeviceProofError(.unsuitableAttestationKey, message) }
        self.key = key
        name = try computing { () throws(Failure) in try TPMName.of(area) }
    }

    /// Whether a signature (r and s, 32 bytes each) is a valid ECDSA signature of the SHA-256 digest of the bytes.
    func verifies(_ signature: [UInt8], over bytes: [UInt8]) throws(DeviceProofError) -> Bool {
        guard let der = ECDSASignature.der(raw: signature, curve: .p256) else { return false }
        return key.verifiesECDSA(
            try computing { () throws(Failure) in try DigestAlgorithm.sha256.hash(bytes) }, der: der)
    }
}
