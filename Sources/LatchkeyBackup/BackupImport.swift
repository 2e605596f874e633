// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Takes in a backup whose bytes come twice, in pieces of any size: first to verify the whole file, then for its items. No
/// item is handed out before the last record of the file was verified.
package struct BackupImport: Sendable {
    /// What has to come next.
    package enum Progress: Sendable {
        /// The next bytes.
        case wantsMore
        /// The file once more, from its first byte: all of it is verified.
        case wantsStart
        /// Nothing: every item was handed out.
        case finished
    }

    private let header: BackupHeader
    private let reader: BackupReader
    private var stream: BackupStream
    /// Records of the verified file; nil while it is verified.
    private var verified: UInt64?

    /// Begins with the first byte of a file that has this header.
    package init(_ header: BackupHeader, _ reader: BackupReader) {
        self.header = header
        self.reader = reader
        stream = BackupStream(header, reader)
    }

    /// Takes the next bytes.
    ///
    /// - Parameters:
    ///   - bytes: a piece of the file; `isLast` says that the file ends with it.
    ///   - body: gets each item, in order, and only while the file comes for the second time.
    /// - Throws: what `BackupStream` throws, what `body` throws, and `storeUnreadable` where the file that came the second
    ///   time has another number of records. The import is over then.
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
