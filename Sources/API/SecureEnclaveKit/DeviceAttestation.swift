// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Security

/// The device's side of attestation: proves to a relying party that keys of the Secure Enclave cannot leave this device.
///
/// The relying party verifies with the product `DeviceProof`. `docs/reference/device-proof.md` defines the messages and
/// says what is proven. Keys must be in a TPM: the software implementation of the Secure Enclave cannot attest.
///
/// 1. ``init(enrollingWith:)`` asks the person and makes an attestation key for one relying party. Store
///    ``dataRepresentation``, and send ``request`` to the relying party.
/// 2. ``answer(_:)`` answers the challenge of the relying party.
/// 3. ``proof(of:nonce:)`` proves for one key, as often as the relying party asks.
///
/// All functions block until the daemon has answered and may be called from any thread. Each relying party needs an
/// attestation key of its own; one key for two of them would let them link what each of them knows.
public struct DeviceAttestation: Hashable, Sendable {
    /// The name of the relying party.
    public let relyingParty: String
    /// The attestation key in encrypted form, for the app to store; at most 4096 bytes. It works on this machine, for this
    /// user, this app and this relying party only, and does not have to be kept secret.
    public let dataRepresentation: Data
    /// The first message for the relying party; nil after ``init(relyingParty:dataRepresentation:)``. It identifies the
    /// device for as long as the device exists, so send it to this relying party only.
    public let request: Data?

    /// Bytes of the nonces that ``proof(of:nonce:)`` accepts.
    public static let nonceBytes = 16...64

    /// Asks the person whether this device may be identified to a relying party, and makes an attestation key.
    ///
    /// Always prompts for biometry or the passcode: the prompt names the app and the relying party and says that the
    /// device can be recognised. Needs a passcode.
    ///
    /// - Parameter relyingParty: its name, such as its domain: 1 to 100 ASCII letters, digits and `.-_:/@`.
    /// - Throws: an error of `NSOSStatusErrorDomain`: -4 (`errSecUnimplemented`) if keys are not in a TPM, -50
    ///   (`errSecParam`) for a name with other characters, -128 (`errSecUserCanceled`) if the person declined, or
    ///   another code of a call that prompts. After an error nothing was read that identifies the device.
    public init(enrollingWith relyingParty: String) throws {
        let made = try EnclaveAttestation.beginEnrolment(with: relyingParty)
        self.relyingParty = relyingParty
        dataRepresentation = made.attestationKey
        request = made.request
    }

    /// Restores an attestation key that this app stored. Sends nothing; a key that cannot be used is refused at its use.
    ///
    /// - Parameters:
    ///   - relyingParty: the stored ``relyingParty``.
    ///   - dataRepresentation: the stored ``dataRepresentation``.
    public init(relyingParty: String, dataRepresentation: Data) {
        self.relyingParty = relyingParty
        self.dataRepresentation = dataRepresentation
        request = nil
    }

    /// Answers the challenge of the relying party. Does not prompt.
    ///
    /// - Parameter challenge: the message of the relying party, at most 1024 bytes.
    /// - Returns: the answer for the relying party.
    /// - Throws: an error of `NSOSStatusErrorDomain`: -25293 (`errSecAuthFailed`) for a challenge that was made for
    ///   another device or another attestation key, -50 (`errSecParam`) for one that is malformed, and for an
    ///   attestation key of another app, machine or relying party.
    public func answer(_ challenge: Data) throws -> Data {
        try EnclaveAttestation.answer(challenge, from: relyingParty, by: dataRepresentation)
    }

    /// Proves that a key cannot leave this device.
    ///
    /// Needs the same access as a use of the key: it prompts when the access control of the key has constraints that the
    /// context's proofs do not satisfy.
    ///
    /// - Parameters:
    ///   - key: a private key of the Secure Enclave, from the keychain or from `SecKeyCreateRandomKey`.
    ///   - nonce: the nonce of the relying party, ``nonceBytes`` bytes.
    /// - Returns: the proof for the relying party.
    /// - Throws: an error of the domain of `LAError` when the user does not authenticate; otherwise one of
    ///   `NSOSStatusErrorDomain`: -4 (`errSecUnimplemented`) for a key that is not in a TPM, -50 (`errSecParam`) for any
    ///   other key, a nonce of another length, and an attestation key of another app, machine or relying party.
    public func proof(of key: SecKey, nonce: Data) throws -> Data {
        try EnclaveAttestation.proof(of: key, for: relyingParty, nonce: nonce, by: dataRepresentation)
    }
}
