// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Reads a backup whose bytes are fed in pieces of any size; buffers at most one record and one piece.
package struct BackupStream {
    private let header: BackupHeader
    private var reader: BackupReader
    private var isBehindHeader = false
    private var hasEnded = false
    private var waiting: [UInt8] = []

    /// Starts a stream; the first byte fed is the first byte of the header.
    package init(_ header: BackupHeader, _ reader: BackupReader) {
        self.header = header
        self.reader = reader.atStart
    }

    /// Processes the next bytes and calls `body` with the items that they complete.
    ///
    /// - Throws: `storeUnreadable` for a record out of order, another header, a byte after the last record, or, with
    ///   `isLast`, a file without its last record; `itemAuthenticationFailed` as `BackupReader.item` does.
    package mutating func feed(
        _ bytes: [UInt8], isLast: Bool, _ body: (FoundItem) throws(Failure) -> Void
    ) throws(Failure) {
        waiting += bytes
        var start = 0
        while !hasEnded {
            if !isBehindHeader {
                guard waiting.count >= BackupHeader.byteCount else { break }
                guard Array(waiting[..<BackupHeader.byteCount]) == header.bytes else { throw reader.damage }
                isBehindHeader = true
                start = BackupHeader.byteCount
            }
            guard waiting.count - start >= BackupReader.prefixBytes else { break }
            let prefix = Array(waiting[start..<start + BackupReader.prefixBytes])
            let count = try reader.length(prefix)
            let first = start + BackupReader.prefixBytes
            guard waiting.count - first >= count else { break }
            let item = try reader.item(prefix, Array(waiting[first..<first + count]))
            start = first + count
            guard let item else {
                hasEnded = true
                break
            }
            try body(item)
        }
        waiting.removeFirst(start)
        guard !hasEnded || waiting.isEmpty else {
            throw Failure(
                .storeUnreadable, "Bytes follow the end of the backup.",
                hint: "Nothing of it was imported. Try another copy of the file.")
        }
        guard hasEnded || !isLast else {
            throw Failure(
                .storeUnreadable, "The backup ends too early.",
                hint: "Nothing of it was imported. Try another copy of the file.")
        }
    }
}
