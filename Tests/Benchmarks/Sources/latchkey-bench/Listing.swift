// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Measures a listing of all items by one program while another reads single items.
struct Listing: Sendable {
    /// The duration of the listing, in a separate process.
    var list = Samples()
    /// The durations of the reads meanwhile.
    var reads = Samples()
    /// Anonymous memory of the daemon right after the listing, in bytes.
    var anonymousBytes = 0
    /// The output of the listing process when it failed; otherwise nil.
    var failure: String?

    /// Measures with `count` items in the store.
    static func measure(_ count: Int, _ daemon: DaemonProcess) throws(BenchFailure) -> Listing {
        var listing = Listing()
        let other = Process()
        let output = Pipe()
        other.executableURL = URL(fileURLWithPath: "/proc/self/exe")
        other.arguments = ["--list"]
        other.standardOutput = output
        do {
            try other.run()
        } catch {
            throw BenchFailure("The other program cannot be started: \(error)")
        }
        while other.isRunning {
            let item = Item(number: Int(scramble(UInt64(listing.reads.count)) % UInt64(count)))
            try KeychainCalls.read([item], &listing.reads)
        }
        let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let words = text.split(separator: " ")
        guard words.count == 2, let found = Int(words[0]), let nanoseconds = Int64(words[1]) else {
            listing.failure = text
            return listing
        }
        guard found == count else { throw BenchFailure("The listing returned \(found) of \(count) items.") }
        listing.list.append(nanoseconds)
        listing.anonymousBytes = try daemon.anonymousBytes()
        return listing
    }

    /// The listing process: lists references to all items, and prints their number and the nanoseconds of the call.
    static func run() throws(BenchFailure) {
        var samples = Samples()
        let found = try KeychainCalls.list(&samples)
        FileHandle.standardOutput.write(Data("\(found) \(Int64(samples.median * 1000))".utf8))
    }
}
