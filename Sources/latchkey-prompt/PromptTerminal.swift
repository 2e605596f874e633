// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem
import TerminalPromptLayout

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
}
