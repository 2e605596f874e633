// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

/// The first record of a store. It is readable without a key, so that a store of another tier, user or version is
/// refused with a specific message, and authenticated once the root key is available.
package struct StoreHeader: Equatable, Sendable {
    /// The version of the formats in `docs/store-format.md`.
    package static let currentVersion: UInt64 = 2

    package var version: UInt64
    package var tier: Tier
    package var userID: UInt32
    /// 16 random bytes that identify the store.
    package var storeID: [UInt8]

    /// Makes a header; `storeID` must be 16 bytes.
    package init(version: UInt64 = currentVersion, tier: Tier, userID: UInt32, storeID: [UInt8]) {
        self.version = version
        self.tier = tier
        self.userID = userID
        self.storeID = storeID
    }

    /// The encoded header, CBOR `[version, tier, user, store]`; part of all associated data.
    package var bytes: [UInt8] {
        var writer = CBORWriter()
        writer.array(4)
        writer.unsigned(version)
        writer.unsigned(UInt64(tier.rawValue))
        writer.unsigned(UInt64(userID))
        writer.bytes(storeID)
        return writer.finishBytes()
    }

    /// Decodes a header. Throws `storeNewer` or `storeOlder` for another version, and `storeUnreadable` for malformed
    /// bytes.
    package init(decoding bytes: [UInt8]) throws(Failure) {
        let decoded: StoreHeader
        var older: UInt64?
        do throws(WireError) {
            decoded = try SecretBytes(bytes).withBytes { (bytes) throws(WireError) -> StoreHeader in
                var reader = CBORReader(bytes)
                let header = try reader.tuple(4) { (reader) throws(WireError) -> StoreHeader in
                    let version = try reader.unsigned()
                    if version < Self.currentVersion { older = version }
                    guard version == Self.currentVersion else { throw .unsupportedVersion }
                    let tier: Tier = try reader.number()
                    guard let userID = UInt32(exactly: try reader.unsigned()) else { throw .invalidValue }
                    let storeID = try reader.bytes(limit: 16)
                    guard storeID.count == 16 else { throw .invalidValue }
                    return StoreHeader(version: version, tier: tier, userID: userID, storeID: storeID)
                }
                try reader.finish()
                return header
            }
        } catch .unsupportedVersion {
            if let older { throw Failure.storeOlder(older) }
            throw Failure(
                .storeNewer, "The store was written by a newer Latchkey.",
                hint: "Install that version again; this one leaves the store untouched.")
        } catch {
            throw Failure.damagedStore("its header cannot be read")
        }
        self = decoded
    }
}

extension Failure {
    /// The failure of a store that is damaged or was changed by another program; `what` completes "The store cannot
    /// be read: …".
    package static func damagedStore(_ what: String, file: String = #fileID, line: UInt = #line) -> Failure {
        Failure(
            .storeUnreadable, "The store cannot be read: \(what).",
            hint: "It is left as it is. Restore keychain.sqlite and root.key together from a backup.",
            file: file, line: line)
    }
}
