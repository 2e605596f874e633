// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeys
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
        let key = try PrivateKey.generate(.p256)
        let point = key.publicKey.externalRepresentation
        let blob = SecretBytes(count: 1 + 32 + point.count) { target in
            target[0] = Self.version
            // The external representation is the point and then the scalar.
            key.externalRepresentation.withBytes { key in
                UnsafeMutableRawBufferPointer(rebasing: target[1..<33]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: key[point.count...]))
            }
            UnsafeMutableRawBufferPointer(rebasing: target[33...]).copyBytes(from: point)
        }
        return ModuleKey(blob: blob, publicKey: point)
    }

    package func sign(_ blob: SecretBytes, digest: [UInt8]) throws(Failure) -> SecretBytes {
        try scalar(blob).sign(digest)
    }

    package func agree(_ blob: SecretBytes, point: [UInt8]) throws(Failure) -> SecretBytes {
        guard let secret = try scalar(blob).agree(point) else {
            throw Failure(.invalidParameter, "The public key is not a point on P-256.")
        }
        return secret
    }

    private func scalar(_ blob: SecretBytes) throws(Failure) -> PrivateScalar {
        let scalar: PrivateScalar? = blob.withBytes { bytes in
            guard bytes.count == 98, bytes[0] == Self.version, bytes[33] == 4 else { return nil }
            return PrivateScalar(
                SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[1..<33])), curve: .p256)
        }
        guard let scalar else { throw Failure(.internalFailure, "The key was not made by a software enclave.") }
        return scalar
    }
}
