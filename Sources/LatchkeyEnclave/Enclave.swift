// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy
package import LatchkeySeams

/// Makes and uses private keys that never leave it. Takes an authorisation with every use, so that a forgotten check
/// does not compile; where the key's bytes rest is the keychain's business.
package final class Enclave: Sendable {
    private let module: any KeyModule

    /// Stands on a module.
    package init(_ module: any KeyModule) { self.module = module }

    /// What does the work.
    package var kind: EnclaveKind { module.kind }

    /// Makes a key of P-256 for a rule.
    package func create(_ rule: AccessControl) throws(Failure) -> ModuleKey {
        guard rule.isValid else { throw Failure(.invalidParameter, "The access control flags contradict.") }
        return try module.create(rule)
    }

    /// Carries out one operation of an opened key, for someone who has proven what its rule asks for.
    package func perform(
        _ operation: EnclaveOperation, _ blob: SecretBytes, rule: AccessControl, proof: Authorisation
    ) throws(Failure) -> SecretBytes {
        guard rule.constraints.contains(.privateKeyUsage) else {
            throw Failure(.keyUsageNotAllowed, "The key's access control does not let it be used.")
        }
        guard !rule.isProtected || proof.satisfies(rule.plan) else {
            throw Failure(.itemAuthenticationFailed, "The key's access control was not met.")
        }
        switch operation {
        case .sign(let digest):
            // SHA-1, SHA-224, SHA-256, SHA-384, SHA-512.
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
