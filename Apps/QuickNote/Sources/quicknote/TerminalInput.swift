// SPDX-License-Identifier: Apache-2.0

import Foundation
@_spi(Apps) import Security

/// Reads lines from the terminal, with and without echo.
struct TerminalInput {
    /// Reads a line, without the line break; nil at the end of the input.
    func line(_ prompt: String) -> String? {
        say(prompt, terminator: "")
        return ProgramState.line()
    }

    /// Reads a line without echo; if standard input is no terminal, reads it like `line`.
    func secret(_ prompt: String) -> String? {
        guard tcgetattr(STDIN_FILENO, &shownModes) == 0 else { return line(prompt) }
        // A terminating signal must not leave the terminal without echo.
        for number in Self.ends {
            signal(number) { number in
                tcsetattr(STDIN_FILENO, TCSANOW, &shownModes)
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        var silent = shownModes
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &shownModes)
            for number in Self.ends { signal(number, SIG_DFL) }
            say()
        }
        return line(prompt)
    }

    private static let ends = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
}

/// The modes before echo was disabled. Safe: written before the signal handlers are installed, which read it.
nonisolated(unsafe) private var shownModes = termios()
