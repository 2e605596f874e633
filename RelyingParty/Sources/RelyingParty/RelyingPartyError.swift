// SPDX-License-Identifier: Apache-2.0

/// Why a proof was refused: for the log of the server. A reply never contains it, because it would tell an attacker
/// which users and keys exist.
public enum RefusalReason: String, Error, Sendable {
    case challengeFormat, challengeCode, otherRelyingParty, expired, otherEpoch, otherBinding, unknownKey, revokedKey
    case rawKey, wrongSignature, replayed, wrongCode, tierTooLow, tooManyKeys, keyExists, unknownSession, publicKey
}

/// The error of an operation of the relying party.
public enum RelyingPartyError: Error, Equatable, Sendable {
    /// The proof was not accepted.
    case refused(RefusalReason)
    /// A part of the request does not have the documented form or exceeds its limit. The text names the part.
    case malformed(String)
    /// The storage or libcrypto failed; nothing was changed. The text has no values.
    case unavailable(String)
}

/// Limits of what a request contains.
enum Limits {
    static let userBytes = 1...128
    static let deviceBytes = 0...64
    static let contextBytes = 0...512
    static let keysOfUser: Int64 = 20
    static let sessionsOfKey: Int64 = 16
    static let codeTries: Int64 = 5
    static let codeSeconds: Int64 = 600
}
