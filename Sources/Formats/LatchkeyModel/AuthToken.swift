// SPDX-License-Identifier: Apache-2.0

/// The answer to an authentication request: who authenticated, how, for what and until when.
///
/// An authority issues a token after it has seen the authentication. The service accepts a token once, for the request
/// that contains the same challenge. The code is computed with a key that belongs to one connection between the two.
package struct AuthToken: Equatable, Sendable {
    /// The only version of the encoding that is accepted.
    package static let version: UInt8 = 1
    /// Maximum seconds between the issue of a token and its expiry.
    package static let lifetimeSeconds: Int64 = 30
    /// Bytes of a challenge, a binding and a code.
    package static let digestBytes = 32
    /// Bytes of a connection identifier and of a passcode identifier.
    package static let identifierBytes = 16

    /// How hard the methods are to deceive. Raw values are part of the wire format and never reused.
    package enum Strength: UInt8, CaseIterable, Sendable {
        /// No method was required.
        case none = 0
        /// A method that never releases a secret bound to the enrolment set, such as a camera without depth.
        case weak = 1
        case strong = 2
    }

    package var version: UInt8
    /// The identifier of the connection whose key made the code, 16 random bytes.
    package var connection: [UInt8]
    /// The challenge of the request, 32 random bytes; accepted once.
    package var challenge: [UInt8]
    package var userID: UInt32
    /// The identifier of the passcode's secret, 16 random bytes, new with each `U_pass`; empty in tiers whose passcode
    /// is verified by the store itself.
    package var passcodeID: [UInt8]
    package var purpose: PromptPurpose
    /// The hash of what the request is for: access control, item or key, app and session; 32 bytes.
    package var binding: [UInt8]
    /// The methods by which the user authenticated; empty if none was required.
    package var methods: Set<AuthenticationMethod>
    package var strength: Strength
    /// Whether a simulated sensor or other virtual hardware took part.
    package var isVirtual: Bool
    /// The enrolment set of the match; nil without biometry.
    package var enrolment: EnrolmentSet?
    /// The boot identifier of the machine, at most 64 bytes.
    package var bootID: [UInt8]
    /// When the token was issued, in nanoseconds of the boot-time clock.
    package var issued: Int64
    /// The last moment at which the token is accepted, in nanoseconds of the boot-time clock.
    package var expires: Int64
    /// HMAC-SHA-256 of `authenticated` with the key of the connection.
    package var code: [UInt8]

    /// Creates a token of the current version, without a code.
    package init(
        connection: [UInt8], challenge: [UInt8], userID: UInt32, passcodeID: [UInt8], purpose: PromptPurpose,
        binding: [UInt8], methods: Set<AuthenticationMethod>, strength: Strength, isVirtual: Bool,
        enrolment: EnrolmentSet?, bootID: [UInt8], issued: Int64, expires: Int64
    ) {
        version = Self.version
        self.connection = connection
        self.challenge = challenge
        self.userID = userID
        self.passcodeID = passcodeID
        self.purpose = purpose
        self.binding = binding
        self.methods = methods
        self.strength = strength
        self.isVirtual = isVirtual
        self.enrolment = enrolment
        self.bootID = bootID
        self.issued = issued
        self.expires = expires
        code = []
    }

    /// The bytes that the code authenticates: a label, then every other field in the order of declaration. Numbers are
    /// big-endian, and a byte with the count precedes each field of variable length, so that no two tokens have the
    /// same bytes.
    package var authenticated: [UInt8] {
        var bytes = CryptographicLabel.token.bytes + [0, version]
        func append(_ field: [UInt8]) { bytes += [UInt8(truncatingIfNeeded: field.count)] + field }
        func append(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }
        append(connection)
        append(challenge)
        append(userID)
        append(passcodeID)
        append(purpose.rawValue)
        append(binding)
        append(methods.reduce(0 as UInt8) { $0 | 1 << $1.rawValue })
        append(strength.rawValue)
        append(UInt8(isVirtual ? 1 : 0))
        append(enrolment?.bytes ?? [])
        append(bootID)
        append(issued)
        append(expires)
        return bytes
    }
}

extension AuthToken {
    /// Whether every field of variable length has a permitted length; a token that breaks a rule is not encoded
    /// unambiguously and must be refused.
    package var isWellFormed: Bool {
        version == Self.version && connection.count == Self.identifierBytes
            && challenge.count == Self.digestBytes && binding.count == Self.digestBytes
            && code.count == Self.digestBytes && (passcodeID.isEmpty || passcodeID.count == Self.identifierBytes)
            && (enrolment.map { (1...EnrolmentSet.maximumBytes).contains($0.bytes.count) } ?? true)
            && bootID.count <= 64
    }
}
