// SPDX-License-Identifier: Apache-2.0

/// What a challenge is for. The numbers are part of the format.
public enum ChallengePurpose: UInt8, CaseIterable, Sendable {
    /// Opens a session.
    case login = 1
    /// Approves one act within a session.
    case stepUp = 2
    /// Registers a key.
    case register = 3
    /// Replaces a key by another one.
    case rotate = 4
    /// Revokes keys.
    case revoke = 5
    /// Opens a session with a passkey: bound to no user and no key, because a browser does not know them before.
    case passkeyLogin = 6
    /// Registers a passkey: bound to a user and no key.
    case passkeyRegister = 7

    /// The purposes that name a key.
    public static let withKey: [ChallengePurpose] = [.login, .stepUp, .register, .rotate, .revoke]
    /// What takes the place of the identifier of a key in challenges that name none, 32 bytes.
    public static let noKey = [UInt8](repeating: 0, count: 32)

    /// The name in requests.
    public var name: String {
        switch self {
        case .login: "login"
        case .stepUp: "step-up"
        case .register: "register"
        case .rotate: "rotate"
        case .revoke: "revoke"
        case .passkeyLogin: "passkey-login"
        case .passkeyRegister: "passkey-register"
        }
    }
}

/// What a challenge is bound to, besides the relying party: a signature of it proves nothing about anything else.
public struct ChallengeBinding: Equatable, Sendable {
    /// The name of the user, at most 128 bytes; empty for ``ChallengePurpose/passkeyLogin``.
    public let user: String
    /// The identifier of the key, 32 bytes (``VerificationKey/identifier``); ``ChallengePurpose/noKey`` if none is named.
    public let key: [UInt8]
    /// What the challenge is for.
    public let purpose: ChallengePurpose
    /// What the purpose is about, such as the act of a step-up, at most 512 bytes. Empty for a login.
    public let context: String

    /// Creates a binding.
    ///
    /// - Parameters:
    ///   - user: the name of the user, at most 128 bytes of UTF-8; empty for ``ChallengePurpose/passkeyLogin``.
    ///   - key: the identifier of the key, 32 bytes.
    ///   - purpose: what the challenge is for.
    ///   - context: what the purpose is about, at most 512 bytes of UTF-8.
    ///
    /// Other lengths are refused by the functions that take a binding.
    public init(user: String, key: [UInt8], purpose: ChallengePurpose, context: String = "") {
        (self.user, self.key, self.purpose, self.context) = (user, key, purpose, context)
    }

    /// Whether every part has the length that the documentation says.
    var isValid: Bool { user.utf8.count <= 128 && key.count == 32 && context.utf8.count <= 512 }

    /// Purpose, user, key and context, each but the first with its length in two bytes.
    package var bytes: [UInt8] {
        [purpose.rawValue] + Self.counted(Array(user.utf8)) + Self.counted(key) + Self.counted(Array(context.utf8))
    }

    /// Limits keep every part below 65,536 bytes; a longer one would not get a valid length.
    package static func counted(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
    }
}

/// The layout of a challenge, `docs/reference/relying-party.md`: 145 bytes, numbers big-endian.
package struct Challenge: Equatable, Sendable {
    package static let byteCount = 145
    package static let version: UInt8 = 1

    package let relyingParty: [UInt8]
    package let binding: [UInt8]
    /// Seconds since 1970.
    package let issued: Int64
    /// Seconds since 1970; valid before this second.
    package let expiry: Int64
    package let nonce: [UInt8]

    /// The hour in which the challenge was issued, which chooses the key of its MAC and the table of its nonce.
    package var epoch: Int64 { issued / 3600 }

    /// Everything before the MAC, 113 bytes.
    package var authenticated: [UInt8] {
        [Self.version] + relyingParty + binding + Self.number(issued) + Self.number(expiry) + nonce
    }

    package init(relyingParty: [UInt8], binding: [UInt8], issued: Int64, expiry: Int64, nonce: [UInt8]) {
        self.relyingParty = relyingParty
        self.binding = binding
        self.issued = issued
        self.expiry = expiry
        self.nonce = nonce
    }

    /// Reads the fields; nil for another length or version, or a negative time. The MAC is not verified.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes[0] == Self.version else { return nil }
        relyingParty = Array(bytes[1..<33])
        binding = Array(bytes[33..<65])
        issued = Self.number(bytes[65..<73])
        expiry = Self.number(bytes[73..<81])
        nonce = Array(bytes[81..<113])
        guard issued >= 0, expiry >= 0 else { return nil }
    }

    package static func number(_ number: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
        bytes.reduce(0) { $0 << 8 | Int64($1) }
    }
}
