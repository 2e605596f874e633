// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
package import LatchkeySeams

/// A key module without hardware protection.
///
/// During an operation the private key is in this process, in memory that is wiped afterwards; at rest it exists only
/// in the keychain's envelopes. A blob is `01`, the scalar (32 bytes, big-endian) and the public key (X9.63, 65 bytes).
package final class SoftwareEnclave: KeyModule {
    private static let version: UInt8 = 1

    /// Creates a module; it has no state.
    package init() {}

    package var kind: EnclaveKind { .software }

    package func create(_ rule: AccessControl) throws(Failure) -> ModuleKey {
        let key = try P256Key.random()
        let blob = SecretBytes(count: 1 + 32 + key.publicKey.count) { target in
            target[0] = Self.version
            key.scalar.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[1...]).copyMemory(from: $0) }
            UnsafeMutableRawBufferPointer(rebasing: target[33...]).copyBytes(from: key.publicKey)
        }
        return ModuleKey(blob: blob, publicKey: key.publicKey)
    }

    package func sign(_ blob: SecretBytes, digest: [UInt8]) throws(Failure) -> SecretBytes {
        try key(blob).sign(digest)
    }

    package func agree(_ blob: SecretBytes, point: [UInt8]) throws(Failure) -> SecretBytes {
        guard let secret = try key(blob).agree(point) else {
            throw Failure(.invalidParameter, "The public key is not a point on P-256.")
        }
        return secret
    }

    private func key(_ blob: SecretBytes) throws(Failure) -> P256Key {
        let key: P256Key? = blob.withBytes { bytes in
            guard bytes.count == 98, bytes[0] == Self.version else { return nil }
            return P256Key(
                scalar: SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[1..<33])),
                publicKey: Array(bytes[33...]))
        }
        guard let key else { throw Failure(.internalFailure, "The key was not made by a software enclave.") }
        return key
    }
}
