// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// check --accept, reset: the ways out of a store that does not fit together, and of a forgotten passcode. Each is confirmed in
/// typing.
enum WaysOut {
    static func accept(_ options: Options) throws(CommandFailure) {
        try Confirmation.ask(
            "accept",
            """
            This uses the store as it is, although it looks restored from a backup or changed by another program.
            Items that are bound to the enrolled fingers or faces stay unreadable.

            """)
        try call(.acceptStore)
        report(options, "The store is used as it is.")
    }

    static func reset(_ options: Options) throws(CommandFailure) {
        let asks = options.has(.protected)
        try Confirmation.ask(
            asks ? "discard" : "reset",
            """
            This deletes every item that asks for a finger, a face or the passcode, keys of the Secure Enclave among
            them, and the passcode itself. Items without such a rule stay. It cannot be undone.
            \(doomed)
            """)
        try call(asks ? .discardProtected : .discardForgotten)
        report(options, "What asked for a proof is deleted. Set a new passcode with: latchkey passcode set")
    }

    /// The names of what is deleted; a store that cannot be read names nothing, and this is the way out of it.
    private static var doomed: String {
        let items = try? DoomedItems { $0.isProtected || $0.accessibility == .whenPasscodeSetThisDeviceOnly }
        return items?.words ?? "The items cannot be listed.\n"
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
