// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A private key of P-256 (FIPS 186-4, SEC 1) in memory, for key modules without hardware.
package struct P256Key: Sendable {
    /// 32 bytes, big-endian.
    package let scalar: SecretBytes
    /// X9.63: 04, X, Y; 65 bytes.
    package let publicKey: [UInt8]

    /// Makes a key from its scalar and its public point; nil for other lengths. Does not check that the two belong
    /// together.
    package init?(scalar: SecretBytes, publicKey: [UInt8]) {
        guard scalar.count == 32, publicKey.count == 65, publicKey[0] == 4 else { return nil }
        self.scalar = scalar
        self.publicKey = publicKey
    }

    /// Generates a key.
    package static func random() throws(Failure) -> P256Key {
        guard let (scalar, publicKey) = P256Operations.generate(),
            let key = P256Key(scalar: scalar, publicKey: publicKey)
        else { throw Failure(.internalFailure, "libcrypto could not make a key") }
        return key
    }

    /// Signs a digest with ECDSA: returns r and s, each 32 bytes, big-endian.
    package func sign(_ digest: [UInt8]) throws(Failure) -> SecretBytes {
        guard let signature = P256Operations.sign(self, digest) else {
            throw Failure(.internalFailure, "libcrypto could not sign")
        }
        return signature
    }

    /// Agrees on a secret by ECDH: returns the X coordinate, 32 bytes; nil when `point` is not on the curve or is
    /// infinity.
    package func agree(_ point: [UInt8]) throws(Failure) -> SecretBytes? {
        switch P256Operations.agree(self, point) {
        case .secret(let secret): return secret
        case .noPoint: return nil
        case .failed: throw Failure(.internalFailure, "libcrypto could not agree on a secret")
        }
    }
}

/// Returns the SHA-1 (FIPS 180-4) of `message`, 20 bytes. Use it only to identify keys (behaviour SK-09), because SHA-1
/// is not collision-resistant.
package func sha1(_ message: [UInt8]) throws(Failure) -> [UInt8] {
    guard let digest = P256Operations.sha1(message) else {
        throw Failure(.internalFailure, "libcrypto could not hash")
    }
    return digest
}
