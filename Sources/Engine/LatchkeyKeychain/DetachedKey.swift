// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

/// The encoding of a private key that the app stores itself: a row that is in no database.
///
/// CBOR `[1, id, key, version, attributes, secret]`. The envelopes are sealed like those of an item, so only the keys
/// of the store that made them can open them.
struct DetachedKey {
    private static let version: UInt64 = 1
    let row: StoredRow

    init(_ row: StoredRow) { self.row = row }

    /// Decodes the bytes; nil when they do not have that form.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Limits.detachedKeyBytes else { return nil }
        let parsed: StoredRow? = bytes.withUnsafeBytes { bytes in
            do throws(WireError) {
                var reader = CBORReader(bytes)
                let row = try reader.tuple(6) { (reader) throws(WireError) in
                    guard try reader.unsigned() == Self.version else { throw .invalidValue }
                    return StoredRow(
                        id: try reader.bytes(limit: 16), itemClass: .key, primaryKey: try reader.bytes(limit: 16),
                        group: [], indexes: [], version: try reader.integer(),
                        attributes: try reader.bytes(limit: Limits.detachedKeyBytes),
                        secret: try reader.bytes(limit: Limits.detachedKeyBytes))
                }
                try reader.finish()
                return row
            } catch {
                return nil
            }
        }
        guard let parsed, parsed.id.count == 16 else { return nil }
        row = parsed
    }

    /// The encoded bytes that the app receives.
    var bytes: [UInt8] {
        var writer = CBORWriter()
        writer.array(6)
        writer.unsigned(Self.version)
        writer.bytes(row.id)
        writer.bytes(row.primaryKey)
        writer.integer(row.version)
        writer.bytes(row.attributes)
        writer.bytes(row.secret ?? [])
        return writer.finishBytes()
    }
}
