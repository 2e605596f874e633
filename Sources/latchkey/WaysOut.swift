// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel

/// check --accept, reset --protected: the ways out of a store that does not fit together. Each is confirmed in typing.
enum WaysOut {
    static func accept(_ options: Options) throws(CommandFailure) {
        try confirm(
            "accept",
            """
            This uses the store as it is, although it looks restored from a backup or changed by another program.
            Items that are bound to the enrolled fingers or faces stay unreadable.
            """)
        try call(.acceptStore)
        report(options, "The store is used as it is.")
    }

    static func reset(_ options: Options) throws(CommandFailure) {
        guard options.has(.protected) else {
            throw .usage("reset needs --protected", "See: latchkey help reset")
        }
        try confirm(
            "discard",
            """
            This deletes every item that asks for a finger, a face or the passcode, keys of the Secure Enclave among
            them, and the passcode itself. Items without such a rule stay. It cannot be undone.
            """)
        try call(.discardProtected)
        report(options, "What asked for a proof is deleted. Set a new passcode with: latchkey passcode set")
    }

    /// Has the person type a word; a pipe may give it as its first line.
    private static func confirm(_ word: String, _ text: String) throws(CommandFailure) {
        let isTerminal = isatty(STDIN_FILENO) == 1
        if isTerminal { Output.writeError(text + "\nType \(word) to go on: ") }
        guard let line = readLine(), line == word else {
            throw .usage("\(word) was not typed", "Nothing was changed.")
        }
    }

    private static func call(_ request: Request) throws(CommandFailure) {
        do throws(Failure) {
            guard case .done = try Client.command.call(request) else {
                throw Failure(.internalFailure, "The daemon's answer is of another kind.")
            }
        } catch {
            throw .failure(error)
        }
    }

    private static func report(_ options: Options, _ sentence: String) {
        Output.write(options.isJSON ? JSON.object([("done", .boolean(true))]).line + "\n" : sentence + "\n")
    }
}
