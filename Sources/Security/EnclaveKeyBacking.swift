// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKeys
import LatchkeyModel

/// A private key of the Secure Enclave: a name for it, and the way to the daemon that uses it.
///
/// Every operation is one request. It prompts when the key's access control asks for it and the context has not proven it.
struct EnclaveKeyBacking: KeyBacking, @unchecked Sendable {
    // The context is safe to use from any thread, as its protocol's only implementation is.
    let name: EnclaveKeyName
    let publicKey: PublicKey
    let access: KeychainAccess

    var isPrivate: Bool { true }

    var attributes: [String: Any] { [kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave] }

    /// Behaviour SE-01.
    func externalRepresentation() throws(Failure) -> SecretBytes {
        throw Failure(.exportNotAllowed, "A private key of the Secure Enclave never leaves it.")
    }

    func signECDSA(_ digest: [UInt8]) throws(Failure) -> [UInt8] {
        // ECDSA takes the leftmost 32 bytes as a number: so does this, for digests of any length.
        let number = [UInt8](repeating: 0, count: max(0, 32 - digest.count)) + digest.prefix(32)
        return try result(.sign(digest: number), count: 64).copyBytes()
    }

    func agree(with peer: PublicKey) throws(Failure) -> SecretBytes {
        guard peer.type == publicKey.type else {
            throw Failure(.invalidParameter, "The public key is none of P-256.")
        }
        return try result(.agree(point: peer.externalRepresentation), count: 32)
    }

    private func result(_ operation: EnclaveOperation, count: Int) throws(Failure) -> SecretBytes {
        let request = Request.UseEnclaveKey(
            name: name, operation: operation, authentication: try access.authentication())
        guard case .enclaveResult(let result) = try access.client().call(.useEnclaveKey(request)),
            result.count == count
        else { throw Failure(.internalFailure, "The daemon's answer is of another kind.") }
        return result
    }
}
