// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem

/// The screen of a pseudoterminal: its output in order, and what is shown on it now.
final class Screen {
    let terminal: PseudoTerminal
    /// The current content of the terminal.
    private(set) var model: TerminalModel
    private var unread: [UInt8] = []
    private var undrawn: [UInt8] = []

    init(columns: UInt16 = 100, rows: UInt16 = 40) throws {
        terminal = try PseudoTerminal(rows: rows, columns: columns)
        model = TerminalModel(columns: Int(columns), rows: Int(rows))
    }

    /// Resizes the window.
    func resize(columns: UInt16, rows: UInt16) {
        model.resize(columns: Int(columns), rows: Int(rows))
        terminal.resize(rows: rows, columns: columns)
    }

    /// Reads output until the screen fulfils a condition; false after 20 seconds.
    func shows(_ isRight: (TerminalModel) -> Bool) -> Bool {
        let deadline = Uptime.deadline(seconds: 20)
        while !isRight(model) {
            guard let more = terminal.read(until: deadline) else { return false }
            take(more)
        }
        return true
    }

    /// Reads output until a line of the screen contains the text; false after 20 seconds.
    func shows(_ words: String) -> Bool { shows { $0.lines.contains { $0.contains(words) } } }

    private func take(_ bytes: [UInt8]) {
        unread += bytes
        undrawn += bytes
        // A read may end within a character.
        for cut in 0..<min(4, undrawn.count + 1) {
            guard let text = String(validating: undrawn.dropLast(cut), as: UTF8.self) else { continue }
            model.write(text)
            undrawn.removeFirst(undrawn.count - cut)
            return
        }
    }

    /// Reads output until the text was written, and consumes everything up to it.
    func hears(_ words: String) -> Bool { hearsAll(words) != nil }

    /// Reads output until the text was written, and returns everything up to it; nil after 20 seconds.
    func hearsAll(_ words: String) -> String? {
        let wanted = Array(words.utf8)
        let deadline = Uptime.deadline(seconds: 20)
        while true {
            if let end = unread.end(of: wanted) {
                defer { unread.removeFirst(end) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            guard let more = terminal.read(until: deadline) else { return nil }
            take(more)
        }
    }

    /// Reads output until every program has closed the terminal.
    func everything() -> String {
        let deadline = Uptime.deadline(seconds: 20)
        while let more = terminal.read(until: deadline) { take(more) }
        defer { unread = [] }
        return String(decoding: unread, as: UTF8.self)
    }
}

extension [UInt8] {
    /// The end of the first occurrence of some bytes.
    fileprivate func end(of part: [UInt8]) -> Int? {
        guard count >= part.count else { return nil }
        for start in 0...(count - part.count) where self[start..<start + part.count].elementsEqual(part) {
            return start + part.count
        }
        return nil
    }
}

extension String {
    /// The number directly after a text.
    func number(after words: String) -> pid_t? {
        let bytes = Array(utf8)
        guard let end = bytes.end(of: Array(words.utf8)) else { return nil }
        return pid_t(String(decoding: bytes[end...].prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
    }
}
