// SPDX-License-Identifier: Apache-2.0

/// A fingerprint reader and the fingers of the user on it, as `latchkey-fingerprint list --plain` writes them.
package struct FingerprintReader: Equatable, Sendable {
    package var name: String
    /// Whether the finger is swiped over the reader, not placed on it.
    package var isSwiped = false
    package var path = ""
    package var fingers: [String] = []

    /// The readers of those records, in their order. Other records are ignored.
    ///
    /// - Parameter records: the fields of each line.
    package static func readers(_ records: [[String]]) -> [FingerprintReader] {
        var readers: [FingerprintReader] = []
        for fields in records {
            switch (fields.first, fields.count) {
            case ("reader"?, 4):
                readers.append(FingerprintReader(name: fields[1], isSwiped: fields[2] == "swipe", path: fields[3]))
            case ("finger"?, 2) where !readers.isEmpty: readers[readers.count - 1].fingers.append(fields[1])
            default: break
            }
        }
        return readers
    }
}
