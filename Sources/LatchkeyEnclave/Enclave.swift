// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy
package import LatchkeySeams

/// Creates and uses private keys through a key module, and enforces their access controls.
///
/// Every use requires an `Authorisation`, so that code which omits the check does not compile. The keychain stores the
/// keys' blobs; this type stores nothing.
package final class Enclave: Sendable {
    private let module: any KeyModule

    /// Creates an enclave that uses `module` for all key operations.
    package init(_ module: any KeyModule) { self.module = module }

    /// The kind of the key module: hardware or software.
    package var kind: EnclaveKind { module.kind }

    /// Creates a P-256 key with an access control. Blocks.
    ///
    /// - Throws: `invalidParameter` for a contradictory access control, and the errors of the module.
    package func create(_ rule: AccessControl) throws(Failure) -> ModuleKey {
        guard rule.isValid else { throw Failure(.invalidParameter, "The access control flags contradict each other.") }
        return try module.create(rule)
    }

    /// Performs one operation with an opened key, after checking the proof against the key's access control. Blocks.
    ///
    /// - Parameters:
    ///   - operation: signing a digest of 20, 28, 32, 48 or 64 bytes, or ECDH with an uncompressed P-256 point (65
    ///     bytes).
    ///   - blob: the module's blob of the key, decrypted by the keychain.
    ///   - rule: the key's access control.
    ///   - proof: the proof obtained for this use.
    /// - Returns: r ‖ s (64 bytes) or the ECDH shared secret (32 bytes).
    /// - Throws: `keyUsageNotAllowed` without `.privateKeyUsage`; `itemAuthenticationFailed` when the proof does not
    ///   satisfy the access control; `invalidParameter` for malformed input; the errors of the module.
    package func perform(
        _ operation: EnclaveOperation, _ blob: SecretBytes, rule: AccessControl, proof: Authorisation
    ) throws(Failure) -> SecretBytes {
        guard rule.constraints.contains(.privateKeyUsage) else {
            throw Failure(.keyUsageNotAllowed, "The key's access control does not allow its use.")
        }
        guard !rule.isProtected || proof.satisfies(rule.plan) else {
            throw Failure(.itemAuthenticationFailed, "The proof does not satisfy the key's access control.")
        }
        switch operation {
        case .sign(let digest):
            // The lengths of SHA-1, SHA-224, SHA-256, SHA-384 and SHA-512.
            guard [20, 28, 32, 48, 64].contains(digest.count) else {
                throw Failure(.invalidParameter, "A digest has 20, 28, 32, 48 or 64 bytes, not \(digest.count).")
            }
            return try module.sign(blob, digest: digest)
        case .agree(let point):
            guard point.count == 65, point[0] == 4 else {
                throw Failure(.invalidParameter, "A public key of P-256 has 65 bytes and begins with 04.")
            }
            return try module.agree(blob, point: point)
        }
    }
}
