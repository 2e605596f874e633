// SPDX-License-Identifier: Apache-2.0

/// What an authenticator signs about itself and its user (WebAuthn Level 3, section 6.1).
package struct AuthenticatorData: Equatable, Sendable {
    /// A key that was just made (section 6.5.1).
    package struct Credential: Equatable, Sendable {
        /// The AAGUID, 16 bytes: the model of the authenticator, or zeros.
        package let authenticator: [UInt8]
        /// The identifier of the credential, 16 to 1,023 bytes.
        package let identifier: [UInt8]
        package let key: VerificationKey
    }

    /// How many bytes the identifier of a credential has: at least 16 (section 4, Credential ID), and no more than 1,023
    /// (section 7.1).
    package static let identifierBytes = 16...1023

    /// The SHA-256 digest of the identifier of the relying party.
    package let relyingParty: [UInt8]
    /// How often the authenticator signed; 0 if it does not count.
    package let counter: Int64
    /// The new key; nil in an assertion.
    package let credential: Credential?
    private let flags: UInt8

    /// Whether a person touched the authenticator.
    package var isUserPresent: Bool { flags & 1 != 0 }
    /// Whether the authenticator verified who that was, for example by a finger.
    package var isUserVerified: Bool { flags & 4 != 0 }
    /// Whether the key can leave its authenticator, so that other devices of the user have it.
    package var canBeBackedUp: Bool { flags & 8 != 0 }
    /// Whether the key has left its authenticator.
    package var isBackedUp: Bool { flags & 16 != 0 }

    /// Reads all of the bytes. Extensions must have their form, and are ignored: none is asked for. The two reserved flags
    /// are ignored.
    package init(_ bytes: [UInt8]) throws(VerificationError) {
        guard bytes.count >= 37 else { throw .authenticatorData }
        relyingParty = Array(bytes[..<32])
        flags = bytes[32]
        counter = bytes[33..<37].reduce(0) { $0 << 8 | Int64($1) }
        var rest = bytes[37...]
        if flags & 0x40 != 0 {
            (credential, rest) = try Self.credential(rest)
        } else {
            credential = nil
        }
        if flags & 0x80 != 0 {
            let extensions: CBORValue
            (extensions, rest) = try Self.first(rest)
            guard extensions.entryCount != nil else { throw .authenticatorData }
        }
        guard rest.isEmpty else { throw .authenticatorData }
    }

    /// Checks everything but the counter and the signature, in the order of sections 7.1 and 7.2.
    ///
    /// - Parameter relyingParty: the SHA-256 digest of the identifier of the relying party.
    package func check(relyingParty: [UInt8]) throws(VerificationError) {
        guard self.relyingParty == relyingParty else { throw .relyingParty }
        guard isUserPresent else { throw .userPresence }
        guard isUserVerified else { throw .userVerification }
        guard canBeBackedUp || !isBackedUp else { throw .backupState }
    }

    private static func credential(
        _ bytes: ArraySlice<UInt8>
    ) throws(VerificationError) -> (Credential, ArraySlice<UInt8>) {
        guard bytes.count >= 18 else { throw .authenticatorData }
        let start = bytes.startIndex
        let count = Int(bytes[start + 16]) << 8 | Int(bytes[start + 17])
        guard identifierBytes.contains(count), bytes.count >= 18 + count else { throw .authenticatorData }
        let (key, rest) = try first(bytes[(start + 18 + count)...])
        let credential = Credential(
            authenticator: Array(bytes[start..<(start + 16)]),
            identifier: Array(bytes[(start + 18)..<(start + 18 + count)]), key: try COSEKey.read(key))
        return (credential, rest)
    }

    private static func first(
        _ bytes: ArraySlice<UInt8>
    ) throws(VerificationError) -> (CBORValue, ArraySlice<UInt8>) {
        do throws(CBORReader.Failure) {
            return try CBORReader.readFirst(bytes)
        } catch {
            throw .authenticatorData
        }
    }
}
