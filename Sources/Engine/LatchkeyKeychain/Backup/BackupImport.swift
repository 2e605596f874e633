// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel

/// Imports a backup whose bytes are fed twice, in pieces of any size: first the whole file is verified, then its
/// items are returned. No item is returned before the last record has been verified.
///
/// The caller sends the file twice and could send another one the second time: a file with the same salt and code
/// authenticates as well. So the first pass stores a digest of each segment of the file, and the second pass reads a
/// segment only when its digest is the same. A digest of the whole file would be known too late, after its items.
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

    /// Bytes of a segment; the last one has the rest. An import holds back at most one segment, and 32 bytes for each.
    package static let segmentBytes = 256 << 10

    private let header: BackupHeader
    private let reader: BackupReader
    private var stream: BackupStream
    /// Digests of the segments that were verified, in order.
    private var digests: [[UInt8]] = []
    /// Number of segments that were compared; nil in the first pass.
    private var compared: Int?
    /// The beginning of the next segment.
    private var waiting: [UInt8] = []

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
    /// - Throws: the failures of `BackupStream`, those of `body`, and `storeUnreadable` when a byte of the second pass
    ///   differs from the first one, or the second pass has fewer or more bytes. No item of the segment with that byte was
    ///   returned. The import must not be continued then.
    package mutating func feed(
        _ bytes: [UInt8], isLast: Bool, _ body: (FoundItem) throws(Failure) -> Void
    ) throws(Failure) -> Progress {
        if compared == nil {
            try stream.feed(bytes, isLast: isLast) { (_) throws(Failure) in }
            for segment in takeSegments(bytes, isLast: isLast) { digests.append(try SHA256.hash(segment)) }
            guard isLast else { return .wantsMore }
            compared = 0
            stream = BackupStream(header, reader)
            return .wantsStart
        }
        let segments = takeSegments(bytes, isLast: isLast)
        for (index, segment) in segments.enumerated() {
            let endsFile = isLast && index == segments.count - 1
            try compare(segment, endsFile: endsFile)
            try stream.feed(segment, isLast: endsFile, body)
        }
        return isLast ? .finished : .wantsMore
    }

    /// Appends bytes to those that wait, and returns the segments that are complete. The last piece completes the last
    /// segment; before it the end of a segment is certain only when a further byte has arrived.
    private mutating func takeSegments(_ bytes: [UInt8], isLast: Bool) -> [[UInt8]] {
        waiting += bytes
        var segments: [[UInt8]] = []
        var start = 0
        while waiting.count - start > Self.segmentBytes {
            segments.append(Array(waiting[start..<start + Self.segmentBytes]))
            start += Self.segmentBytes
        }
        waiting.removeFirst(start)
        if isLast {
            segments.append(waiting)
            waiting = []
        }
        return segments
    }

    /// Throws unless the segment is the next one of the file that was verified.
    private mutating func compare(_ segment: [UInt8], endsFile: Bool) throws(Failure) {
        let index = compared ?? 0
        guard index < digests.count, endsFile == (index == digests.count - 1),
            try SHA256.hash(segment) == digests[index]
        else {
            throw Failure(.storeUnreadable, "The file is not the one that was verified.", hint: "Import it again.")
        }
        compared = index + 1
    }
}
