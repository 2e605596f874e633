// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// admin remove-user: removes what the services of the system store for a user.
enum RemoveUser {
    /// The user as whom latchkeyd runs.
    private static let storeUser = "latchkey"

    static func run(_ options: Options) throws(CommandFailure) {
        let word = options.arguments[0]
        let removal = try failing { () throws(Failure) in
            let removal = try prepared(word)
            // Before the question, so that the user does not confirm what cannot be done.
            try removal.check()
            return removal
        }
        if !options.has(.yes) {
            try Confirmation.ask(
                word,
                localized(
                    """
                    This removes the keychain of user \(removal.userID): every item, the passcode and its tries.
                    It cannot be undone.

                    """))
        }
        let remaining = try failing { () throws(Failure) in try removal.run() }
        if options.isJSON {
            let user = JSON.number(Int64(removal.userID))
            let rest = JSON.array(remaining.map { .text($0.message.description) })
            return Output.write(
                JSON.object([("removed", .boolean(true)), ("user", user), ("remaining", rest)]).line + "\n")
        }
        for failure in remaining { Output.write(localized(failure.message).withoutControls + "\n") }
        Output.write(
            localized(
                """
                The keychain of user \(removal.userID) was removed.
                Start the services again: systemctl start \(UserRemoval.sockets)
                """) + "\n")
    }

    private static func prepared(_ word: String) throws(Failure) -> UserRemoval {
        guard geteuid() == 0 else {
            throw Failure(
                .notPermitted, "Only root can remove the keychain of a user.",
                hint: "Run: sudo latchkey admin remove-user \(word)")
        }
        guard let owner = Accounts.user(named: storeUser) else {
            throw Failure(
                .itemNotFound, "There is no user \(storeUser), so the services of a system are not installed.",
                hint: "A keychain of tier user is in the user's own folder.")
        }
        return UserRemoval(try userID(word), storeOwner: owner.userID)
    }

    /// Returns the number of a user; a word of digits is the number itself, also without an account.
    static func userID(_ word: String) throws(Failure) -> UInt32 {
        if word.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt32(word) { return number }
        guard let user = Accounts.user(named: word) else {
            throw Failure(
                .itemNotFound, "There is no account \(word.withoutControls).",
                hint: "For a deleted account, give its user number.")
        }
        return user.userID
    }
}
