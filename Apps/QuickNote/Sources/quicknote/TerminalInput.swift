// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Lines from the terminal, with and without echo.
struct TerminalInput {
    /// A line without its end; nil at the end of the input.
    func line(_ prompt: String) -> String? {
        print(prompt, terminator: "")
        fflush(nil)
        return readLine()
    }

    /// A line that the terminal does not show. From a pipe it is read as it is.
    func secret(_ prompt: String) -> String? {
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return line(prompt) }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
            print()
        }
        return line(prompt)
    }
}
