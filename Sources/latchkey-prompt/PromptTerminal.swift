// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem
import TerminalPromptLayout

/// The caller's terminal while the prompt has it.
struct PromptTerminal {
    private let terminal: Terminal
    private let modes: termios

    /// Takes the terminal over from whoever set those modes.
    init(_ terminal: Terminal, modes: termios) {
        self.terminal = terminal
        self.modes = modes
        terminal.readKeys(from: modes)
    }

    var number: CInt { terminal.descriptor.number }

    /// Whether nobody else has set modes since. A shell does when it comes back to the front.
    var isOurs: Bool { terminal.isReadingKeys(from: modes) }

    var window: WindowSize {
        let (columns, rows) = terminal.window
        return WindowSize(columns: columns, rows: rows)
    }

    func write(_ text: String) { terminal.write(text) }

    /// Hands the terminal back as it was. Whoever has set other modes since owns it now and is left alone.
    func handBack() { if isOurs { terminal.restore(modes) } }
}
