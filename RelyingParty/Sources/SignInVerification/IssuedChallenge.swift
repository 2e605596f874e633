// SPDX-License-Identifier: Apache-2.0

/// A challenge that the server issued and has not seen used, for the functions that verify a signature of it.
///
/// Either ``ChallengeKeys`` issued it, or the server made random bytes and stored them with the session of the client.
public struct IssuedChallenge: Equatable, Sendable {
    /// The challenge as it was sent to the client.
    public let bytes: [UInt8]
    /// When it expires, in seconds since 1970: it is valid before this second.
    public let expiry: Int64
    /// What the server stores until ``expiry``, once, so that no second proof with this challenge is accepted.
    public let nonce: [UInt8]

    /// A challenge that the server made and stored. Never make it from what a client sent: that accepts every challenge.
    ///
    /// - Parameters:
    ///   - bytes: the challenge, at least 16 unpredictable bytes (WebAuthn Level 3, section 13.4.3).
    ///   - expiry: when it expires, in seconds since 1970.
    /// - Throws: `challengeFormat` for fewer than 16 bytes.
    public init(bytes: [UInt8], expiry: Int64) throws(VerificationError) {
        guard bytes.count >= 16 else { throw .challengeFormat }
        (self.bytes, self.expiry, nonce) = (bytes, expiry, bytes)
    }

    package init(_ bytes: [UInt8], _ challenge: Challenge) {
        (self.bytes, expiry, nonce) = (bytes, challenge.expiry, challenge.nonce)
    }

    /// Compares what a client signed with the challenge.
    func check(_ signed: [UInt8], at now: Int64) throws(VerificationError) {
        guard now < expiry else { throw .expired }
        guard signed == bytes else { throw .otherBinding }
    }
}
