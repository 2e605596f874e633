// SPDX-License-Identifier: Apache-2.0

package import LatchkeyCrypto
package import LatchkeyModel

/// A secret seed that only the TPM with the private part of a certain key can compute: the salt of a session, or what
/// protects a credential.
package struct SessionSalt: Sendable {
    /// What a seed is for; one for another purpose is another value.
    package enum Purpose: String, Sendable {
        case session = "SECRET"
        case credential = "IDENTITY"
    }
    /// The secret seed, 32 bytes.
    package let seed: SecretBytes
    /// The contents of `encryptedSalt` in `TPM2_StartAuthSession`, and of `secret` in `TPM2_ActivateCredential`: the
    /// ephemeral point.
    package let encrypted: [UInt8]

    /// Makes a seed for a key of the TPM (Part 1, appendix C.6.1: `KDFe`).
    ///
    /// - Parameters:
    ///   - recipient: the public point of the key. The caller must have it from a trusted place: the side that chooses
    ///     it can read the session.
    ///   - purpose: what the seed is for.
    ///   - ephemeral: a key for this seed only; nil for a random one.
    package init(for recipient: TPMPoint, _ purpose: Purpose = .session, ephemeral: PrivateKey? = nil) throws(Failure) {
        let key = if let ephemeral { ephemeral } else { try PrivateKey.generate(.p256) }
        guard let peer = PublicKey(recipient.external, type: .ellipticCurve(.p256)),
            let point = TPMPoint(key.publicKey.externalRepresentation)
        else {
            throw Failure(.vaultUnavailable, "The key of the TPM is not a point on P-256.")
        }
        let shared = try key.agree(with: peer)
        let label = Array(purpose.rawValue.utf8) + [0]
        let message = SecretBytes(count: 4 + shared.count + label.count + 64) { target in
            var end = 0
            func append(_ bytes: some Collection<UInt8>) {
                for byte in bytes {
                    target[end] = byte
                    end += 1
                }
            }
            append([0, 0, 0, 1])
            shared.withBytes { append($0) }
            append(label)
            append(point.x)
            append(recipient.x)
        }
        var digest = try message.withBytes { (bytes) throws(Failure) in try DigestAlgorithm.sha256.hash(bytes) }
        defer { wipe(&digest) }
        seed = SecretBytes(digest)
        var writer = TPMWriter()
        try writer.add(sized: point.x)
        try writer.add(sized: point.y)
        encrypted = writer.bytes
    }
}

/// The key of a salted session, with which commands and responses are authenticated and parameters encrypted (Part 1,
/// sections 19.6 and 21).
package struct SessionKey: Sendable {
    private let key: SecretBytes

    /// Derives the key (`KDFa` with the label `ATH`).
    ///
    /// - Parameters:
    ///   - tpm: the nonce of the TPM in the response to `TPM2_StartAuthSession`.
    ///   - caller: the nonce of that command.
    package init(_ salt: SessionSalt, tpm: [UInt8], caller: [UInt8]) throws(Failure) {
        key = try TPMKeyDerivation.derive(salt.seed, "ATH", tpm, caller)
    }

    /// Returns the HMAC of a command or response.
    ///
    /// - Parameters:
    ///   - digest: the digest of the command or response.
    ///   - newer: the nonce of the side that sends it.
    ///   - older: the latest nonce of the other side.
    ///   - attributes: the attributes of the session (`TPMA_SESSION`).
    ///   - authorization: the authorization value of the entity; nil if it does not take part.
    package func code(
        _ digest: [UInt8], newer: [UInt8], older: [UInt8], attributes: UInt8, authorization: SecretBytes? = nil
    ) throws(Failure) -> [UInt8] {
        try HMACSHA256.code(key: authorization.map { key + $0 } ?? key, message: digest + newer + older + [attributes])
    }

    /// Encrypts or decrypts the first parameter of a command or response, without its two bytes of length
    /// (AES-128-CFB, Part 1, section 21.3).
    ///
    /// - Parameters:
    ///   - newer: the nonce of the side that sends the parameter.
    ///   - older: the latest nonce of the other side.
    ///   - authorization: the authorization value of the entity that the session authorizes; nil if there is none.
    package func apply(
        _ direction: StreamCipher.Direction, to parameter: SecretBytes, newer: [UInt8], older: [UInt8],
        authorization: SecretBytes? = nil
    ) throws(Failure) -> SecretBytes {
        let material = try TPMKeyDerivation.derive(authorization.map { key + $0 } ?? key, "CFB", newer, older)
        return try StreamCipher.apply(direction, to: parameter, keyAndVector: material)
    }
}

/// Joins two secrets.
private func + (left: SecretBytes, right: SecretBytes) -> SecretBytes {
    SecretBytes(count: left.count + right.count) { target in
        left.withBytes { target.copyMemory(from: $0) }
        right.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[left.count...]).copyMemory(from: $0) }
    }
}
