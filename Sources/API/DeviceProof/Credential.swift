// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TPMProtocol

/// Protects a secret so that only the TPM with a certain endorsement key decrypts it, and only if it also has the key
/// with a certain name (`TPM2_MakeCredential`; TPM 2.0 Library, Part 1, section 24).
enum Credential {
    /// Makes a challenge.
    ///
    /// - Parameters:
    ///   - secret: the secret, at most 32 bytes.
    ///   - name: the name of the attestation key.
    ///   - endorsementKey: the key for which the secret is encrypted.
    static func challenge(
        _ secret: SecretBytes, for name: [UInt8], _ endorsementKey: EndorsementKey
    ) throws(Failure) -> EnrolmentChallenge {
        let (seed, encryptedSeed) = try makeSeed(endorsementKey)
        let key = try TPMKeyDerivation.derive(seed, "STORAGE", name, bits: 128)
        let authenticationKey = try TPMKeyDerivation.derive(seed, "INTEGRITY")
        let material = SecretBytes(count: 32) { target in key.withBytes { target.copyMemory(from: $0) } }
        let sized = SecretBytes(count: 2 + secret.count) { target in
            target[1] = UInt8(truncatingIfNeeded: secret.count)
            secret.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[2...]).copyMemory(from: $0) }
        }
        let identity = try StreamCipher.apply(.encrypt, to: sized, keyAndVector: material).copyBytes()
        var credential = TPMWriter()
        try credential.add(sized: HMACSHA256.code(key: authenticationKey, message: identity + name))
        credential.add(identity)
        return EnrolmentChallenge(credential: credential.bytes, seed: encryptedSeed)
    }

    /// Makes the seed of the protection, and encrypts it for the endorsement key.
    private static func makeSeed(_ endorsementKey: EndorsementKey) throws(Failure) -> (SecretBytes, [UInt8]) {
        switch endorsementKey.template {
        case .p256:
            guard let point = TPMPoint(endorsementKey.publicKey.externalRepresentation) else {
                throw Failure(.internalFailure, "The endorsement key is not a point on P-256.")
            }
            let seed = try SessionSalt(for: point, .credential)
            return (seed.seed, seed.encrypted)
        case .rsa2048:
            let seed = try randomSecret(32)
            // Part 1, appendix B.10.4: the label ends with a zero byte.
            let label = Array(SessionSalt.Purpose.credential.rawValue.utf8) + [0]
            return (seed, try endorsementKey.publicKey.encryptRSA(seed, .oaep(.sha256, label: label)))
        }
    }
}
