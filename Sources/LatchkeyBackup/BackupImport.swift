// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Imports a backup whose bytes are fed twice, in pieces of any size: first the whole file is verified, then its
/// items are returned. No item is returned before the last record has been verified.
package struct BackupImport: Sendable {
    /// What `feed` expects next.
    package enum Progress: Sendable {
        /// The bytes that follow.
        case wantsMore
        /// The file again from its first byte: all of it is verified.
        case wantsStart
        /// Nothing: every item was returned.
        case finished
    }

    private let header: BackupHeader
    private let reader: BackupReader
    private var stream: BackupStream
    /// Number of records in the verified file; nil in the first pass.
    private var verified: UInt64?

    /// Starts an import; the first byte fed is the first byte of the header.
    package init(_ header: BackupHeader, _ reader: BackupReader) {
        self.header = header
        self.reader = reader
        stream = BackupStream(header, reader)
    }

    /// Processes the next bytes.
    ///
    /// - Parameters:
    ///   - bytes: a piece of the file; `isLast` is true for the last piece.
    ///   - body: called with each item, in order, in the second pass only.
    /// - Throws: the failures of `BackupStream`, those of `body`, and `storeUnreadable` when the second pass has
    ///   another number of records. The import must not be continued then.
    package mutating func feed(
        _ bytes: [UInt8], isLast: Bool, _ body: (FoundItem) throws(Failure) -> Void
    ) throws(Failure) -> Progress {
        guard let verified else {
            try stream.feed(bytes, isLast: isLast) { (_) throws(Failure) in }
            guard isLast else { return .wantsMore }
            verified = stream.records
            stream = BackupStream(header, reader)
            return .wantsStart
        }
        try stream.feed(bytes, isLast: isLast, body)
        guard isLast else { return .wantsMore }
        guard stream.records == verified else {
            throw Failure(.storeUnreadable, "The file is not the one that was verified.", hint: "Import it again.")
        }
        return .finished
    }
}
