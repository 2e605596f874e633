// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Why a proof is not accepted.
///
/// Two errors are equal when their codes are equal. The message is for display and may change between releases.
public struct DeviceProofError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The check that failed. Each check of `docs/reference/device-proof.md` has a code of its own.
    public enum Code: Equatable, Sendable, CaseIterable {
        /// The message does not follow the format, or has trailing bytes.
        case malformed
        /// The endorsement key is of another form than the two that the TCG defines for every TPM.
        case unsupportedEndorsementKey
        /// The device sent no certificate, and its endorsement key is not one of those that are known.
        case unknownEndorsementKey
        /// No chain of valid certificates leads from the endorsement certificate to a pinned one.
        case untrustedChain
        /// The certificate is not one of an endorsement key, or names no manufacturer and model.
        case notAnEndorsementCertificate
        /// The certificate is for another key than the endorsement key.
        case otherEndorsementKey
        /// The attestation key is not bound to its TPM, or also signs what the TPM did not state itself.
        case unsuitableAttestationKey
        /// The answer does not contain the secret of the challenge.
        case wrongSecret
        /// The signature of the statement was not made by the attestation key.
        case wrongSignature
        /// The attestation key signed something else than a statement of the TPM about the creation of a key.
        case notACreationStatement
        /// The statement was made for another nonce.
        case wrongNonce
        /// The statement is about another key than the one that is described.
        case otherKeyName
        /// The key is not bound to its TPM, can be used without its policy, or is of another kind.
        case unsuitableKey
        /// The key is not the one that is registered.
        case otherPublicKey
        /// The policy of the key is not the one of the described authority and reference.
        case otherPolicy
        /// A parameter of the caller is not valid.
        case invalidParameter
        /// A computation of libcrypto failed, for example because memory allocation failed.
        case internalFailure
    }

    /// The check that failed.
    public let code: Code
    /// A description of the cause in English.
    public var message: String { text.description }
    /// The description, for a program that translates it.
    package let text: Phrase

    init(_ code: Code, _ text: Phrase) { (self.code, self.text) = (code, text) }

    /// The same text as ``message``.
    public var description: String { message }

    /// Compares the codes of two errors and ignores their messages.
    ///
    /// - Parameters:
    ///   - left: an error.
    ///   - right: another error.
    /// - Returns: true when both have the same ``code``.
    public static func == (left: DeviceProofError, right: DeviceProofError) -> Bool { left.code == right.code }
}
