// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// The kind of device that holds a key.
public enum DeviceKind: Hashable, Sendable {
    /// A TPM whose maker certified its endorsement key.
    ///
    /// The manufacturer is the vendor identifier of the TCG as the certificate has it, such as `id:49465800`; the model
    /// is the maker's part number. Both are copied from the certificate, so they are as trustworthy as the pinned
    /// certificate.
    case hardware(manufacturer: String, model: String)
    /// A virtual TPM: the owner of the machine on which it runs can copy its keys.
    case virtual

    /// The kind that a certificate with these names has. The maker of swtpm has no identifier of its own: it uses that
    /// of IBM.
    init(manufacturer: String, model: String) {
        self =
            manufacturer == "id:00001014" || model == "swtpm"
            ? .virtual : .hardware(manufacturer: manufacturer, model: model)
    }
}

/// An attestation key of a device that enrolled. The relying party stores it, for example with the account of the user.
public struct EnrolledDevice: Hashable, Sendable {
    /// The public area of the attestation key (`TPMT_PUBLIC`), which ``Verifier/verify(_:of:nonce:by:)`` needs.
    public let attestationKey: [UInt8]
    /// The kind of the device.
    public let kind: DeviceKind
    /// The name of the endorsement key, 34 bytes. It identifies the device for as long as it exists, across relying
    /// parties: store it only if you need it.
    public let endorsementKeyName: [UInt8]

    /// Creates a value from stored parts.
    ///
    /// - Parameters:
    ///   - attestationKey: the stored ``attestationKey``.
    ///   - kind: the stored ``kind``.
    ///   - endorsementKeyName: the stored ``endorsementKeyName``; empty if it is not stored.
    public init(attestationKey: [UInt8], kind: DeviceKind, endorsementKeyName: [UInt8] = []) {
        (self.attestationKey, self.kind, self.endorsementKeyName) = (attestationKey, kind, endorsementKeyName)
    }
}

/// What a proof shows. Its two properties are independent: the first is proven, the second is not.
public struct ProvenKey: Hashable, Sendable {
    /// The public key: a P-256 point in X9.63 format, 65 bytes.
    public let publicKey: [UInt8]
    /// Proven: the private key was made in a device of this kind, and cannot leave it.
    public let keyCannotLeaveDevice: DeviceKind
    /// Claimed: what each use of the key requires.
    public let userVerificationClaimed: UserVerificationClaim
}

/// What the policy of a key requires of each use. The TPM enforces it; what it means is only claimed.
///
/// The TPM requires a signature of ``authority``, or the value of an index for which wrong values are counted, as
/// ``passcode`` says. Whether that authority signs only after it verified the user cannot be
/// proven: the user of a machine can make a key whose policy names an authority of their own.
public struct UserVerificationClaim: Hashable, Sendable {
    /// How the TPM itself requires the passcode of the device.
    public enum Passcode: Hashable, Sendable {
        /// Not at all: the authority decides alone, also about a passcode.
        case decidedByAuthority
        /// Each use needs the passcode, and no approval.
        case required
        /// Each use needs the passcode or an approval.
        case insteadOfApproval
        /// Each use needs the passcode and an approval.
        case besidesApproval
    }
    /// The public key of the authority that approves each use: a P-256 point in X9.63 format, 65 bytes. Empty for a key
    /// that needs no approval because the passcode is ``Passcode/required``.
    public let authority: [UInt8]
    /// The reference that each approval names, 32 bytes. It stands for user, store, access control and enrolment set,
    /// and is the same for keys that have all of them in common.
    public let reference: [UInt8]
    /// How the TPM itself requires the passcode of the device. The TPM knows an index with a value; that the value is
    /// derived from a passcode is claimed.
    public let passcode: Passcode
    /// Whether each use also needs the application password of the key.
    public let requiresApplicationPassword: Bool
}

extension UserVerificationClaim.Passcode {
    init(_ demand: PasscodeDemand?) {
        switch demand?.part {
        case nil: self = .decidedByAuthority
        case .alone?: self = .required
        case .either?: self = .insteadOfApproval
        case .both?: self = .besidesApproval
        }
    }
}
