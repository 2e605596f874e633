// SPDX-License-Identifier: Apache-2.0

/// Why a proof was refused: for the log of the server. A reply never contains it, because it would tell an attacker
/// which users and keys exist.
public enum RefusalReason: String, Error, Sendable {
    case challengeFormat, challengeCode, otherRelyingParty, expired, otherEpoch, otherBinding, unknownKey, revokedKey
    case rawKey, wrongSignature, replayed, wrongCode, tierTooLow, tooManyKeys, keyExists, unknownSession, publicKey
    /// A counter that is not higher than the one before froze the key; a counter is a little lower, and froze nothing; the key
    /// was frozen before; a key that counted before came without a counter.
    case counterRegressed, counterLate, frozenKey, counterMissing
    /// The administration is not configured; the user is no administrator; the code that opens a browser's session is
    /// unknown, spent or over.
    case administrationOff, notAdministrator, browserCode
    /// The service is not registered or has another credential; it lacks the right.
    case unknownService, serviceRight
    /// No roots are configured; the maker of the device is not trusted; the device is virtual; the enrolment of its
    /// attestation key, the statement, or the key in it is not accepted.
    case attestationOff, untrustedDevice, virtualDevice, enrolment, enrolmentExpired, statement, otherKey
    /// Passkeys are not permitted; the proof is one of another form of key; the client data are of another operation or
    /// origin; the authenticator did not see or verify the user; the key can be backed up and could not before, or the other
    /// way round; the statement about a passkey is not accepted; the user handle or the credential is another one.
    case passkeysOff, otherForm, clientDataType, otherOrigin, userPresence, userVerification, backupState
    case passkeyStatement, userHandle, otherCredential
}

/// The error of an operation of the relying party.
public enum RelyingPartyError: Error, Equatable, Sendable {
    /// The proof was not accepted.
    case refused(RefusalReason)
    /// A part of the request does not have the documented form or exceeds its limit. The text names the part.
    case malformed(String)
    /// The storage or libcrypto failed. Nothing was changed, unless the text says that this is unknown: the connection to
    /// the database was lost in a commit. The text has no values.
    case unavailable(String)
}

/// Limits of what a request contains.
enum Limits {
    static let userBytes = 1...128
    static let deviceBytes = 0...64
    static let contextBytes = 0...512
    static let keysOfUser: Int64 = 20
    static let sessionsOfKey: Int64 = 16
    /// Integers that every reader of JSON has exactly (RFC 8259, section 6).
    static let counter: ClosedRange<Int64> = 0...9_007_199_254_740_991
    static let codeSeconds: Int64 = 600
    static let browserCodeSeconds: Int64 = 60
    static let approvalSeconds: Int64 = 60
    static let browserIdleSeconds: Int64 = 900
    static let browserSeconds: Int64 = 28800
    /// Rows of a page of a list.
    static let pageRows: Int64 = 50
    /// Rows of the audit log that a page verifies at a time.
    static let verifiedRows: Int64 = 500
    /// How many of the newest rows of a chain are searched for those of a user, and how many of these are shown.
    static let recentAuditRows: Int64 = 20_000
    static let eventRows: Int64 = 20
    /// How far a clock may be corrected backwards before sessions that were used later are refused.
    static let clockSeconds: Int64 = 60
}
