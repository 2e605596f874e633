// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension CommandTable {
    static let aboutAdmin: Phrase = """
        These commands are for root. They are for the keychains that the services of the system keep for all users
        (tiers file and tpm), and not for the keychain of tier user in a user's own folder.
        """

    static let admin = [
        CommandEntry(
            "admin remove-user", "remove the keychain of a user: items, keys, passcode and tries",
            [CommandArgument("USER")], [CommandOption(.yes, "remove it without asking")],
            about: """
                Removes everything that latchkeyd and latchkey-authd keep for USER, a name or a user number: the items,
                the root key, the passcode and its tries. A deleted account has only its number. It cannot be undone.

                Both services must be stopped; the command says how. It asks you to type USER, unless --yes is given.
                Files that hold keys are overwritten before they are removed. No link is followed: a folder that
                contains anything but files of its service is left as it is.
                """, action: RemoveUser.run)
    ]
}
