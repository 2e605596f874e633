// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A message for the operator, and what the program exits with.
struct Usage: Error {
    /// What happened.
    let message: String
    /// What to do; empty if the message says it.
    let hint: String
    /// Exit codes of sysexits(3): 64 for wrong words on the command line, otherwise 1.
    let exitCode: CInt

    /// A command that could not do its work.
    init(_ message: String, hint: String = "") {
        self.message = message
        self.hint = hint
        exitCode = 1
    }

    private init(command message: String, hint: String) {
        self.message = message
        self.hint = hint
        exitCode = 64
    }

    /// Words on the command line that mean nothing.
    ///
    /// - Parameter hint: where the known words are.
    static func command(_ message: String, hint: String) -> Usage { Usage(command: message, hint: hint) }
}
