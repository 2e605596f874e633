// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension CommandTable {
    static let aboutPasscodes = """
        A new passcode has at least 4 characters and is asked for here, or read from a pipe (one line). The one so far is
        asked for by the daemon, in a prompt of its own, never by this command.
        """

    static let passcodes = [
        CommandEntry("passcode set", "set the first passcode", about: aboutPasscodes) {
            (options) throws(CommandFailure) in
            try Passcode.run("set", options)
        },
        CommandEntry("passcode change", "replace the passcode by another", about: aboutPasscodes) {
            (options) throws(CommandFailure) in
            try Passcode.run("change", options)
        },
        CommandEntry(
            "passcode remove", "remove the passcode and every item that needs it",
            about: """
                Removes the passcode, and deletes every item of every app that needs it: names them, and has you type the
                word remove. The daemon asks for the passcode.
                """
        ) { (options) throws(CommandFailure) in
            try Passcode.run("remove", options)
        },
        CommandEntry("passcode check", "ask for the passcode; a right one ends a lockout of the sensor") {
            (options) throws(CommandFailure) in
            try Passcode.run("check", options)
        },
    ]

    static let store = [
        CommandEntry(
            "lock", "lock the keychain: keys leave memory, nothing is asked",
            about: """
                Locks the keychain: prompts end, what apps had proven is forgotten, and keys leave memory. Items of the
                classes AfterFirstUnlock and Always stay readable. A passcode has to be set.
                """
        ) { (options) throws(CommandFailure) in
            try Lock.run(.lock, options)
        },
        CommandEntry("unlock", "unlock it by finger or passcode, asked for on the terminal") {
            (options) throws(CommandFailure) in
            try Lock.run(.unlock(Prompting()), options)
        },
        CommandEntry(
            "status", "show the daemon, the store and the sensor",
            about: "Shows tier, daemon, store, sensor, passcode and enclave. Fails when the store cannot be used.",
            action: StatusCommand.run),
        CommandEntry(
            "export", "write what may leave this device, under a recovery code", [CommandArgument("FILE", .file)],
            [CommandOption(.replace, "replace a file that exists")],
            about: """
                Writes the items of every app that are not bound to this device into FILE, which the daemon encrypts. Its
                prompt asks for the passcode and shows the recovery code once; this command prints no code and never has
                one. Without the code nothing in the file can be read. Items that stay are listed with the reason. Without
                a passcode only the items of this command's own group are written.
                """, action: Backup.write),
        CommandEntry(
            "import", "add the items of such a file", [CommandArgument("FILE", .file)],
            about: """
                Adds the items of a backup. The daemon's prompt asks for the passcode and the recovery code. The whole file
                is verified first: one that was cut or changed adds nothing. Items that are there already stay as they are,
                so an import that was interrupted goes on when it is started again.
                """, action: Backup.read),
        CommandEntry(
            "log", "show what was written, used and refused, and by whom", [],
            [
                CommandOption(.limit, "only the newest entries"),
                CommandOption(.verify, "follow the chain and say whether it is whole"),
                CommandOption(.daemon, "what the daemon wrote down about itself"),
            ],
            about: """
                Shows the audit trail, oldest first: every write, every use of a protected item, every refusal. --verify
                follows the chain from the first entry to the last and says whether it is whole, or at which entry it
                breaks. --json writes one object a line.

                --daemon shows what the daemon wrote down about itself: starts, ends, and failures that no program was told
                of. It reads daemon.log in the store's folder and needs no daemon.
                """, action: LogCommand.run),
        CommandEntry(
            "check", "look whether everything in the store is what was put there", [],
            [
                CommandOption(.restore, "bring back damaged items that are whole again"),
                CommandOption(.accept, "use the store as it is, after a restored backup"),
            ],
            about: """
                Looks at every row, index and record of the store, at the audit trail and at the database itself, says what
                is wrong and what to do, and changes nothing. No secret leaves the daemon. Fails when something is wrong.

                --restore brings back items that were damaged and put aside, if they are whole again: after the right key
                or anchor file was put back. Nothing is deleted or replaced; what stays aside is named with the reason.
                --accept uses a store as it is that looks restored from a backup or changed by another program: it has you
                type the word accept, and the daemon asks for the passcode, if one is set.
                """, action: CheckCommand.run),
        CommandEntry(
            "reset", "delete what asks for a proof: the way out of a forgotten passcode", [],
            [CommandOption(.protected, "ask for the passcode, if it can still be checked")],
            about: """
                Deletes every item of every app that asks for a finger, a face or the passcode, and the passcode itself.
                Names them and has you type the word reset. Other items stay. Nothing brings the deleted ones back.

                --protected is the way out when the file anchor is lost: it has you type the word discard, and the daemon
                asks for the passcode, if it can still be checked.
                """, action: WaysOut.reset),
        CommandEntry(
            "apps", "show which apps may use Face ID, and take it back", [],
            [
                CommandOption(.revoke, "refuse an app from now on"),
                CommandOption(.forget, "let an app ask again"),
            ], about: "Shows the apps that have asked to use Face ID and what they were told.", action: Apps.run),
    ]
}
