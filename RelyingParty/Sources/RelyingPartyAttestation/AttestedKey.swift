// SPDX-License-Identifier: Apache-2.0

/// In which kind of device a key was proven to be.
public enum AttestedDevice: String, Sendable {
    /// There was no proof.
    case none
    /// A TPM whose maker certified it.
    case tpm
    /// A virtual TPM: the owner of its machine can copy its keys.
    case virtualTPM = "virtual-tpm"
}

/// What is known about the protection of a key. The first three properties are proven, the last one is claimed: the
/// user of a machine can make a key whose policy names an authority of their own. They are never joined.
public struct Attestation: Equatable, Sendable {
    /// Where the key is, and cannot leave.
    public let device: AttestedDevice
    /// Manufacturer and model as the maker's certificate names them, such as `id:49465800 SLB9670`; empty for a device that
    /// is no chip.
    public let model: String
    /// A digest of relying party and endorsement key, 32 bytes, by which the keys of one device can be found; empty if
    /// there was no proof.
    public let chip: [UInt8]
    /// What each use of the key requires: `approval`, `passcode`, `approval-or-passcode` or `approval-and-passcode`, and
    /// `+application-password` if that is needed as well; empty if there was no proof.
    public let claimedUserVerification: String

    /// A key without a proof.
    public static let none = Attestation(device: .none, model: "", chip: [], claimedUserVerification: "")

    package init(device: AttestedDevice, model: String, chip: [UInt8], claimedUserVerification: String) {
        self.device = device
        self.model = model
        self.chip = chip
        self.claimedUserVerification = claimedUserVerification
    }
}

/// What a device sends to prove where a key is, `docs/reference/relying-party.md`.
public struct AttestationEvidence: Sendable {
    /// The enrolment as the relying party sealed it.
    public let enrolment: [UInt8]
    /// The device's answer to the challenge of the enrolment.
    public let answer: [UInt8]
    /// The statement of the TPM about the key.
    public let proof: [UInt8]

    /// Creates a value from its parts.
    ///
    /// - Parameters:
    ///   - enrolment: the enrolment as the relying party sealed it.
    ///   - answer: the device's answer to the challenge of the enrolment.
    ///   - proof: the statement of the TPM about the key.
    public init(enrolment: [UInt8], answer: [UInt8], proof: [UInt8]) {
        self.enrolment = enrolment
        self.answer = answer
        self.proof = proof
    }
}

/// Why evidence is not accepted.
public enum AttestationRefusal: String, Error, Sendable {
    /// A part does not have the form of `docs/reference/device-proof.md`.
    case malformed
    /// No chain leads from the certificate of the endorsement key to a configured root, or it is for something else.
    case untrustedDevice
    /// The device is a virtual TPM, and these are refused.
    case virtualDevice
    /// The enrolment is not one of this relying party and user, or its secret did not come back.
    case enrolment
    /// The enrolment began more than ten minutes ago.
    case enrolmentExpired
    /// The statement is not one of the attestation key, or was made for something else than this registration.
    case statement
    /// The key is not the registered one, could leave the TPM, or its policy is another one.
    case otherKey
    /// libcrypto failed.
    case failure
}
