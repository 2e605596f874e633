// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyPrompts
import LatchkeySystem

/// The caller's terminal while the prompt uses it.
struct PromptTerminal {
    private let terminal: Terminal
    private let modes: termios

    /// Switches the terminal to single keys; `modes` are restored later.
    init(_ terminal: Terminal, modes: termios) {
        self.terminal = terminal
        self.modes = modes
        terminal.readKeys(from: modes)
    }

    var number: CInt { terminal.descriptor.number }

    /// Whether no other program has changed the modes since, as a shell does when it becomes the foreground job.
    var isOurs: Bool { terminal.isReadingKeys(from: modes) }

    var window: WindowSize {
        let (columns, rows) = terminal.window
        return WindowSize(columns: columns, rows: rows)
    }

    func write(_ text: String) { terminal.write(text) }

    /// Restores the modes, unless another program has changed them and now uses the terminal.
    func handBack() { if isOurs { terminal.restore(modes) } }

    /// Restores the terminal at the standard input, with this process's environment, after the process of a prompt was
    /// killed: modes, cursor and screen, and a new line for the program that writes next.
    ///
    /// Does nothing if the modes are not those of a prompt: another program uses the terminal then.
    /// - Parameter modes: the modes before the prompt, `struct termios` of this system in hexadecimal digits.
    static func restore(modes text: String) {
        let terminal = Terminal(Descriptor(standard: .input))
        guard let modes = modes(text), terminal.isReadingKeys(from: modes) else { return }
        // The terminal may be stopped.
        terminal.neverBlock()
        terminal.restoreNow(modes)
        let look = Look(
            terminalIsUTF8: false, callerReadsKeys: modes.c_lflag & tcflag_t(ICANON) == 0, variable: Environment.value)
        terminal.write(Block.end(look) + "\r\n")
    }

    private static func modes(_ text: String) -> termios? {
        let digits = Array(text.utf8)
        var modes = termios()
        guard digits.count == 2 * MemoryLayout<termios>.size else { return nil }
        return withUnsafeMutableBytes(of: &modes) { bytes in
            for index in bytes.indices {
                let pair = String(decoding: digits[2 * index..<2 * index + 2], as: UTF8.self)
                guard let byte = UInt8(pair, radix: 16) else { return false }
                bytes[index] = byte
            }
            return true
        } ? modes : nil
    }
}
