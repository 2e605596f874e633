// SPDX-License-Identifier: Apache-2.0

/// Why what a client sent is not accepted. For logs: a reply that contains it would tell an attacker which users and keys
/// exist.
public enum VerificationError: String, Error, Sendable {
    // MARK: Challenges

    /// The bytes do not have the form of a challenge: another length or version.
    case challengeFormat
    /// A challenge that was not issued under one of the secrets.
    case challengeCode
    /// A challenge of another relying party.
    case otherRelyingParty
    /// A challenge whose time is over.
    case expired
    /// A challenge from a time whose challenges are not accepted any more, or from the future.
    case otherEpoch
    /// A binding with a user, key or context beyond its limits, see ``ChallengeBinding``.
    case binding
    /// A challenge that was issued for another user, key, purpose or context, or another one than the expected one.
    case otherBinding

    // MARK: Responses of authenticators (WebAuthn Level 3, sections 7.1 and 7.2)

    /// A response that does not have the form of `PublicKeyCredential.toJSON()`.
    case credential
    /// A response with another credential than the one in its attestation object, or the one of the passkey.
    case otherCredential
    /// Client data that are not JSON, or have no type, challenge or origin.
    case clientData
    /// Authenticator data that do not have their form.
    case authenticatorData
    /// An attestation object that does not have its form, or whose format is not `none` or `packed`.
    case attestationObject
    /// A key of an algorithm that is not permitted, or with parameters that are not accepted, see ``VerificationKey``.
    case publicKey
    /// Client data of another operation: a registration in place of an assertion, or the other way round.
    case type
    /// Client data of another origin, or of a page in a frame of another one.
    case origin
    /// Authenticator data for another relying party.
    case relyingParty
    /// The authenticator was not touched.
    case userPresence
    /// The authenticator did not verify who touched it.
    case userVerification
    /// A passkey that is backed up and cannot be, or whose ability to be backed up is another one than at its registration.
    case backupState
    /// An attestation statement with another signature, algorithm, certificate or AAGUID.
    case attestation
    /// A user handle that is not the one of the passkey, or none where it is demanded.
    case userHandle

    // MARK: Proofs

    /// A signature that the key did not make for these bytes.
    case signature
    /// A counter below 0 or above 2^53 - 1.
    case counter

    /// libcrypto failed, for example because memory is exhausted. It says nothing about what the client sent.
    case failure
}
