// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

/// The form of a private key that an app keeps itself: a row that is in no database.
///
/// CBOR `[1, id, key, version, attributes, secret]`, sealed and bound like the row of an item, so that it opens only
/// with the keys of the store that made it.
struct DetachedKey {
    private static let version: UInt64 = 1
    let row: StoredRow

    init(_ row: StoredRow) { self.row = row }

    /// Reads the bytes; nil when they are not of that form.
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

    /// The bytes an app gets.
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
