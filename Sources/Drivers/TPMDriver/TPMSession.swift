// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TPMProtocol

/// A session that only the TPM with a certain storage root key can take part in: each command and each response is
/// authenticated with its key, and secret parameters are encrypted.
struct TPMSession: Sendable {
    let handle: TPMHandle
    /// The name of the storage root key. What knows the private part of that key knows `key`.
    let root: [UInt8]
    let key: SessionKey
    var nonce: [UInt8]
    /// Uptime in nanoseconds when `nonce` was made.
    var nonceTime: Int64
    /// The part of the HMAC key that is the password of the object; nil unless the policy contains its password.
    var password: SecretBytes?

    /// Bytes of a nonce that this side sends.
    static let nonceBytes = 16
}

/// The digests of one command and of its response, and the encryption of their first parameters.
extension TPMSession {
    /// Authorizes a command, or its parameters only, with this session.
    ///
    /// - Parameters:
    ///   - digest: the digest of the command with its parameters as they are sent.
    ///   - nonce: new random bytes.
    func authorization(
        of digest: [UInt8], nonce caller: [UInt8], _ attributes: TPMSessionAttributes
    ) throws(Failure) -> TPMAuthorization {
        let code = try key.code(
            digest, newer: caller, older: nonce, attributes: attributes.rawValue, authorization: password)
        return TPMAuthorization(session: handle, nonce: caller, attributes: attributes, code: code)
    }

    /// Checks that the TPM sent a response, and adopts its nonce.
    mutating func accept(
        _ answer: TPMAuthorization, _ digest: [UInt8], nonce caller: [UInt8], at time: Int64
    ) throws(Failure) {
        let expected = try key.code(
            digest, newer: answer.nonce, older: caller, attributes: answer.attributes.rawValue, authorization: password)
        guard SecretBytes(answer.code) == SecretBytes(expected) else {
            throw Failure(
                .enclaveUnavailable, "A response of the TPM is not authentic: it was changed on its way.",
                hint: "See: latchkey doctor")
        }
        (nonce, nonceTime) = (answer.nonce, time)
    }
}
