// SPDX-License-Identifier: Apache-2.0

/// A passkey as a server stores it: what ``verifyPasskeyRegistration(_:challenge:userHandle:policy:at:)`` returns and
/// ``verifyPasskeyAssertion(_:challenge:passkey:isUserNamed:policy:at:)`` needs.
public struct Passkey: Equatable, Sendable {
    /// What signed the statement about the key. Without a list of makers, even a certificate is a claim of the client.
    public enum Statement: String, CaseIterable, Sendable {
        /// The statement is empty.
        case none
        /// The key itself.
        case own = "self"
        /// A certificate, which the authenticator may have from its maker.
        case certificate
    }

    /// The identifier of the credential, 16 to 1,023 bytes. It is unique: refuse a registration whose credential another user has.
    public let credential: [UInt8]
    /// The public key.
    public let key: VerificationKey
    /// The user handle that the page gave to the browser as `user.id`, 1 to 64 bytes.
    public let userHandle: [UInt8]
    /// The AAGUID, 16 bytes: the model of the authenticator, or zeros. It is a claim.
    public let authenticator: [UInt8]
    /// What signed the statement about the key.
    public let statement: Statement
    /// Whether the key can leave its authenticator, so that other devices of the user have it. It never changes.
    public let canBeBackedUp: Bool
    /// Whether the key has left its authenticator; to be replaced by ``VerifiedAssertion/isBackedUp``.
    public var isBackedUp: Bool
    /// How often the authenticator signed, 0 if it does not count; to be replaced by ``VerifiedAssertion/counter`` if
    /// ``CounterPolicy/decision(for:after:)`` accepts it.
    public var counter: Int64

    /// Creates a passkey from what was stored.
    ///
    /// - Parameters:
    ///   - credential: the identifier of the credential, 16 to 1,023 bytes.
    ///   - key: the public key.
    ///   - userHandle: the user handle, 1 to 64 bytes.
    ///   - authenticator: the AAGUID, 16 bytes.
    ///   - statement: what signed the statement about the key.
    ///   - canBeBackedUp: whether the key can leave its authenticator.
    ///   - isBackedUp: whether the key has left its authenticator.
    ///   - counter: how often the authenticator signed, 0 if it does not count.
    public init(
        credential: [UInt8], key: VerificationKey, userHandle: [UInt8], authenticator: [UInt8], statement: Statement,
        canBeBackedUp: Bool, isBackedUp: Bool, counter: Int64
    ) {
        (self.credential, self.key, self.userHandle) = (credential, key, userHandle)
        (self.authenticator, self.statement) = (authenticator, statement)
        (self.canBeBackedUp, self.isBackedUp, self.counter) = (canBeBackedUp, isBackedUp, counter)
    }
}

/// What is known after an assertion was verified.
public struct VerifiedAssertion: Equatable, Sendable {
    /// How often the authenticator signed, for ``CounterPolicy/decision(for:after:)``; 0 if it does not count.
    public let counter: Int64
    /// Whether the key has left its authenticator.
    public let isBackedUp: Bool
}
