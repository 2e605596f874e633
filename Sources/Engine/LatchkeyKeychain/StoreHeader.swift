// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

/// The first record of a store. It is readable without a key, so that a store of another tier, user or version is
/// refused with a specific message, and authenticated once the root key is available.
package struct StoreHeader: Equatable, Sendable {
    /// The version of the formats in `docs/reference/store-format.md`.
    package static let currentVersion: UInt64 = 1

    package let version: UInt64
    package let tier: Tier
    package let userID: UInt32
    /// 16 random bytes that identify the store.
    package let storeID: [UInt8]
    /// The account of the user; not nil if and only if the tier binds stores to accounts (`Tier.bindsAccount`).
    package let account: AccountName?
    /// The encoded header, CBOR `[version, tier, user, store]` or `[version, tier, user, store, account]`; part of all
    /// associated data, for each of which it would otherwise be encoded again.
    package let bytes: [UInt8]

    /// Makes a header; `storeID` must be 16 bytes. A tier that binds no account omits `account`.
    ///
    /// - Throws: `invalidParameter` if the tier binds accounts and `account` is nil.
    package init(
        version: UInt64 = currentVersion, tier: Tier, userID: UInt32, account: AccountName? = nil, storeID: [UInt8]
    ) throws(Failure) {
        if tier.bindsAccount, account == nil {
            throw Failure(.invalidParameter, "A store of tier \(tier.name) needs the name of its account.")
        }
        self.version = version
        self.tier = tier
        self.userID = userID
        self.account = tier.bindsAccount ? account : nil
        self.storeID = storeID
        var writer = CBORWriter()
        writer.array(self.account == nil ? 4 : 5)
        writer.unsigned(version)
        writer.unsigned(UInt64(tier.rawValue))
        writer.unsigned(UInt64(userID))
        writer.bytes(storeID)
        if let account = self.account { writer.text(account.text) }
        bytes = writer.finishBytes()
    }

    /// Decodes a header. Throws `storeNewer` or `storeOlder` for another version, and `storeUnreadable` for malformed
    /// bytes.
    package init(decoding bytes: [UInt8]) throws(Failure) {
        var fields = Fields()
        var older: UInt64?
        do throws(WireError) {
            try SecretBytes(bytes).withBytes { (bytes) throws(WireError) in
                var reader = CBORReader(bytes)
                try reader.array(limit: 5) { (reader) throws(WireError) in
                    try fields.read(&reader)
                    if let version = fields.version, version < Self.currentVersion { older = version }
                    guard fields.version == Self.currentVersion else { throw .unsupportedVersion }
                }
                try reader.finish()
            }
        } catch .unsupportedVersion {
            if let older { throw Failure.storeOlder(older) }
            throw Failure(
                .storeNewer, "The store was written by a newer Latchkey.",
                hint: "Install that version again; this one leaves the store untouched.")
        } catch {
            throw Failure.damagedStore("its header cannot be read")
        }
        // A header of another number of fields is not one of its tier.
        guard let tier = fields.tier, let userID = fields.userID, let storeID = fields.storeID,
            tier.bindsAccount == (fields.account != nil)
        else { throw Failure.damagedStore("its header cannot be read") }
        try self.init(tier: tier, userID: userID, account: fields.account, storeID: storeID)
    }

    /// The fields of a header in their order, while they are decoded.
    private struct Fields {
        var count = 0
        var version: UInt64?
        var tier: Tier?
        var userID: UInt32?
        var storeID: [UInt8]?
        var account: AccountName?

        mutating func read(_ reader: inout CBORReader) throws(WireError) {
            switch count {
            case 0: version = try reader.unsigned()
            case 1:
                let read: Tier = try reader.number()
                tier = read
            case 2:
                guard let read = UInt32(exactly: try reader.unsigned()) else { throw .invalidValue }
                userID = read
            case 3:
                let read = try reader.bytes(limit: 16)
                guard read.count == 16 else { throw .invalidValue }
                storeID = read
            default:
                guard let read = AccountName(try reader.text(limit: AccountName.bytes)) else { throw .invalidValue }
                account = read
            }
            count += 1
        }
    }
}

extension Failure {
    /// The failure of a store that is damaged or was changed by another program; `what` completes "The store cannot
    /// be read: …".
    package static func damagedStore(_ what: Phrase, file: String = #fileID, line: UInt = #line) -> Failure {
        Failure(
            .storeUnreadable, "The store cannot be read: " + what + ".",
            hint: "It is left as it is. Restore keychain.sqlite and root.key together from a backup.",
            file: file, line: line)
    }
}
