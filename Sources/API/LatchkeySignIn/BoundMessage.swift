// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LatchkeyCrypto
internal import LatchkeyKit
internal import LatchkeyModel
internal import Security

/// What this client believes to sign, `docs/reference/relying-party.md`. The server contributes the challenge and
/// nothing else.
struct BoundMessage: Equatable, Sendable {
    /// What a challenge is for. The numbers are part of the format.
    enum Purpose: UInt8, Sendable {
        case login = 1
        case stepUp = 2
        case register = 3
        case rotate = 4
        case revoke = 5

        var name: String {
            switch self {
            case .login: "login"
            case .stepUp: "step-up"
            case .register: "register"
            case .rotate: "rotate"
            case .revoke: "revoke"
            }
        }
    }

    /// The act of a step-up that opens the page for administrators, which the server expects.
    static let administration = "open the administration"

    let relyingPartyID: String
    let user: String
    /// The identifier of the key that signs, 32 bytes.
    let key: [UInt8]
    let purpose: Purpose
    /// What the purpose is about, such as the act of a step-up. Empty for a login.
    var context = ""

    /// The bytes that the key signs.
    func bytes(_ challenge: [UInt8]) -> [UInt8] {
        Array("latchkey relying party 1\0".utf8) + Self.counted(Array(relyingPartyID.utf8)) + binding
            + Self.counted(challenge)
    }

    /// The digest of the relying party that a challenge for this message contains.
    func relyingPartyDigest() throws(SignInError) -> [UInt8] {
        try Digest.sha256(Array("latchkey relying party id 1\0".utf8) + Array(relyingPartyID.utf8))
    }

    /// The digest of user, key, purpose and context that a challenge for this message contains.
    func bindingDigest() throws(SignInError) -> [UInt8] {
        try Digest.sha256(Array("latchkey challenge binding 1\0".utf8) + binding)
    }

    private var binding: [UInt8] {
        [purpose.rawValue] + Self.counted(Array(user.utf8)) + Self.counted(key) + Self.counted(Array(context.utf8))
    }

    /// The length in two bytes, and the bytes. All parts are shorter than 65,536 bytes: `Arguments` allows a user or a
    /// context of at most 512 bytes, `ServerAddress` a relying party of at most 100 bytes, and a key and a challenge have
    /// fixed lengths.
    private static func counted(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
    }
}

/// SHA-256 of libcrypto.
enum Digest {
    static func sha256(_ bytes: [UInt8]) throws(SignInError) -> [UInt8] {
        do throws(Failure) {
            return try DigestAlgorithm.sha256.hash(bytes)
        } catch {
            throw SignInError(.keychain, underlying: KeychainError(status: errSecInternalComponent))
        }
    }
}
