// SPDX-License-Identifier: Apache-2.0

package import LatchkeyClient
package import LatchkeyModel
package import LatchkeySystem

/// A connection over which requests are made.
package protocol RequestCaller {
    /// Sends a request and waits for its reply; throws a reply that is a failure.
    func call<Call: DaemonRequest>(_ request: Call) throws(Failure) -> Call.Response
}

/// Copies the bytes of a backup between the daemon and a file. Only the daemon can decrypt them.
package struct BackupTransfer {
    /// The items that a transfer copied and left out.
    package struct Result {
        /// Number of items in the backup, or added to the keychain.
        package var count: UInt64 = 0
        /// Number of items that were in the keychain already.
        package var present: UInt64 = 0
        package var skipped = SkippedItems()
    }

    /// Maximum number of left-out items that are described; the others are only counted.
    private static let describedItems = 1000

    private let caller: any RequestCaller

    package init(_ caller: any RequestCaller) { self.caller = caller }

    /// Writes a backup. The file has another name until it is complete, so that `path` never names an incomplete one.
    ///
    /// - Parameter progress: called with the number of items so far.
    package func export(to path: FilePath, progress: (Int) -> Void) throws(Failure) -> Result {
        let file = try NewFile(path)
        var result = Result()
        var cursor: [UInt8]?
        repeat {
            let page = try caller.call(Request.ExportItems(cursor: cursor))
            try file.write(page.bytes)
            result.count = page.count
            progress(Int(clamping: page.count))
            result.skipped.add(page.skipped, most: Self.describedItems)
            cursor = page.cursor
        } while cursor != nil
        try file.finish()
        return result
    }

    /// Reads a backup.
    ///
    /// - Parameter progress: called with the number of added items so far.
    package func restore(from path: FilePath, progress: (Int) -> Void) throws(Failure) -> Result {
        let file = try BackupInput(path)
        var result = Result()
        var part: Reply.Imported?
        repeat {
            if part?.wantsStart == true { try file.rewind() }
            let (bytes, isLast) = try file.next(Limits.importedBytes)
            let request = Request.ImportItems(cursor: part?.cursor, bytes: bytes, isLast: isLast)
            let next = try caller.call(request)
            progress(Int(clamping: next.added))
            result.skipped.add(next.skipped, most: Self.describedItems)
            (result.count, result.present) = (next.added, next.present)
            part = next
        } while part?.cursor != nil
        return result
    }
}
