// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem

/// What a person in front of a pseudo-terminal reads, one thing after another.
final class Screen {
    let terminal: PseudoTerminal
    private var unread: [UInt8] = []

    init() throws { terminal = try PseudoTerminal() }

    /// Reads on until the words were written; what stands before them is read then.
    func hears(_ words: String) -> Bool { hearsAll(words) != nil }

    /// Reads on until the words were written, and gives everything up to them.
    func hearsAll(_ words: String) -> String? {
        let wanted = Array(words.utf8)
        let deadline = Uptime.deadline(seconds: 20)
        while true {
            if let end = unread.end(of: wanted) {
                defer { unread.removeFirst(end) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            guard let more = terminal.read(until: deadline) else { return nil }
            unread += more
        }
    }

    /// Everything until every program has closed the terminal.
    func everything() -> String {
        let deadline = Uptime.deadline(seconds: 20)
        while let more = terminal.read(until: deadline) { unread += more }
        defer { unread = [] }
        return String(decoding: unread, as: UTF8.self)
    }
}

extension [UInt8] {
    /// Where the first occurrence of some bytes ends.
    fileprivate func end(of part: [UInt8]) -> Int? {
        guard count >= part.count else { return nil }
        for start in 0...(count - part.count) where self[start..<start + part.count].elementsEqual(part) {
            return start + part.count
        }
        return nil
    }
}

extension String {
    /// The number right after some words.
    func number(after words: String) -> pid_t? {
        let bytes = Array(utf8)
        guard let end = bytes.end(of: Array(words.utf8)) else { return nil }
        return pid_t(String(decoding: bytes[end...].prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
    }
}
