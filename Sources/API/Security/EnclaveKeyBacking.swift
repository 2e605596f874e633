// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyCrypto
import LatchkeyModel

/// A private key of the Secure Enclave: the key's name, its public half, and the client that sends requests to the
/// daemon.
///
/// Every operation is one request and blocks. It prompts when the key's access control requires a proof that the
/// context does not hold.
struct EnclaveKeyBacking: KeyBacking, @unchecked Sendable {
    // Unchecked because of the context in `access`: the only implementation of its protocol is safe on any thread.
    let name: EnclaveKeyName
    let publicKey: PublicKey
    let access: KeychainAccess

    var isPrivate: Bool { true }

    var attributes: [String: Any] { [kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave] }

    /// Always throws: a private key of the Secure Enclave cannot be exported (behaviour SE-01).
    func externalRepresentation() throws(Failure) -> SecretBytes {
        throw Failure(.exportNotAllowed, "A private key of the Secure Enclave cannot be exported.")
    }

    func signECDSA(_ digest: [UInt8]) throws(Failure) -> [UInt8] {
        // ECDSA uses the leftmost 256 bits of a digest as a number (FIPS 186-5, section 6.4.1); a shorter digest is
        // padded on the left, which keeps its value.
        let number = [UInt8](repeating: 0, count: max(0, 32 - digest.count)) + digest.prefix(32)
        return try result(.sign(digest: number), count: 64).copyBytes()
    }

    func agree(with peer: PublicKey) throws(Failure) -> SecretBytes {
        guard peer.type == publicKey.type else {
            throw Failure(.invalidParameter, "The public key is not a P-256 key.")
        }
        return try result(.agree(point: peer.externalRepresentation), count: 32)
    }

    private func result(_ operation: EnclaveOperation, count: Int) throws(Failure) -> SecretBytes {
        let request = Request.UseEnclaveKey(
            name: name, operation: operation, authentication: try access.authentication())
        let result = try access.client().call(request)
        guard result.count == count else { throw .unexpectedReply }
        return result
    }
}
