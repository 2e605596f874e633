// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One program asks for every item while another reads one after the other.
struct Listing: Sendable {
    /// Of the call that asks for all of them, in a process of its own.
    var list = Samples()
    /// Of the reads meanwhile.
    var reads = Samples()
    /// Anonymous memory of the daemon right after.
    var anonymousBytes = 0
    /// Why there is no answer; nil where there is one.
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
        guard found == count else { throw BenchFailure("Listing gave \(found) items of \(count).") }
        listing.list.append(nanoseconds)
        listing.anonymousBytes = try daemon.anonymousBytes()
        return listing
    }

    /// The other program: asks for a reference to every item and prints how many there were and how long it took.
    static func run() throws(BenchFailure) {
        var samples = Samples()
        let found = try KeychainCalls.list(&samples)
        FileHandle.standardOutput.write(Data("\(found) \(Int64(samples.median * 1000))".utf8))
    }
}
