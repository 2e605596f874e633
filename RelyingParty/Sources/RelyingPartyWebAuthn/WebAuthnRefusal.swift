// SPDX-License-Identifier: Apache-2.0

/// Why a response of an authenticator is not accepted (WebAuthn Level 3, sections 7.1 and 7.2).
package enum WebAuthnRefusal: String, Error, Sendable {
    /// Client data that are not JSON, or have no type, challenge or origin.
    case clientData
    /// Authenticator data that do not have their form.
    case authenticatorData
    /// An attestation object that does not have its form, or whose format is not `none` or `packed`.
    case attestationObject
    /// A key that is not one of ES256: P-256 with both coordinates.
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
    /// A passkey that is backed up and cannot be.
    case backupState
    /// An attestation statement with another signature, algorithm, certificate or AAGUID.
    case attestation
    /// libcrypto failed.
    case failure
}
