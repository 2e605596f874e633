// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// check --accept, reset: recovery of a store that does not match its anchor, and of one whose passcode is forgotten.
/// The user confirms each by typing a word: the first one at the daemon's own prompt, because an app could send the request
/// without this command.
enum WaysOut {
    static func accept(_ options: Options) throws(CommandFailure) {
        if try state().problem == nil, try CheckCommand.isWhole(options) {
            return report(options, localized("There is nothing to accept: the items are those that were stored."))
        }
        Output.writeError(
            localized(
                """
                This uses the store as it is, although it looks restored from a backup or changed by another program.
                Items that are bound to the enrolled fingers or faces stay unreadable.

                """))
        try call(Request.AcceptStore())
        report(options, localized("The store was accepted as it is."))
    }

    static func reset(_ options: Options) throws(CommandFailure) {
        let asks = options.has(.protected)
        if try hasNothingToDelete() {
            return report(options, localized("There is nothing to delete: no passcode is set, and no item needs one."))
        }
        try Confirmation.ask(
            asks ? "discard" : "reset",
            localized(
                """
                This deletes every item that needs a finger, a face or the passcode, including keys of the Secure Enclave,
                and the passcode itself. Other items stay. It cannot be undone.
                \(doomed)
                """))
        if asks { try call(Request.DiscardProtected()) } else { try call(Request.DiscardForgotten()) }
        report(
            options,
            localized("Deleted: the protected items and the passcode. Set a new passcode with: latchkey passcode set"))
    }

    /// The list of the items that are deleted; a store that cannot be read has no list and can still be reset.
    private static var doomed: String {
        let all = try? Client.command.items(nil)
        return all.map { DoomedItems(of: $0) { $0.accessControl?.isDiscardedWithPasscode ?? false }.words }
            ?? localized("The items cannot be listed.") + "\n"
    }

    /// Whether a reset would change nothing. Checked first, so that the user is not asked to confirm an operation without
    /// effect.
    private static func hasNothingToDelete() throws(CommandFailure) -> Bool {
        let report = try state()
        // A reset also unlocks a keychain that no passcode can unlock.
        guard report.problem == nil, !report.isPasscodeSet, !report.isLocked, let all = try? Client.command.items(nil)
        else {
            return false
        }
        return !all.contains { $0.accessControl?.isDiscardedWithPasscode ?? false }
    }

    private static func state() throws(CommandFailure) -> StatusReport {
        try failing { () throws(Failure) in try Client.command.status() }
    }

    private static func call(_ request: some DaemonRequest) throws(CommandFailure) {
        try failing { () throws(Failure) in _ = try Client.command.call(request) }
    }

    private static func report(_ options: Options, _ sentence: String) {
        Output.write(options.isJSON ? JSON.object([("done", .boolean(true))]).line + "\n" : sentence + "\n")
    }
}
