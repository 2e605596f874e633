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
        guard tcgetattr(STDIN_FILENO, &shownModes) == 0 else { return line(prompt) }
        // Whoever is ended here leaves a terminal that shows what is typed.
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
            print()
        }
        return line(prompt)
    }

    private static let ends = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
}

/// How the terminal was before it was told to be silent: written before the handlers of signals are set, which read it.
nonisolated(unsafe) private var shownModes = termios()
