// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension CommandTable {
    static let aboutPasscodes: Phrase = """
        A new passcode has at least 4 characters, in tier tpm 6. In tiers file and tpm only the prompt asks for it; in
        other tiers this command reads the first one from the terminal, and each from a pipe (one line). The daemon asks
        for the current passcode in its own prompt; this command never reads it. In tier tpm the prompt shows a recovery code with the
        first passcode, see: latchkey help recover
        """

    static let passcodes = [
        CommandEntry("passcode set", "set the first passcode", about: aboutPasscodes) {
            (options) throws(CommandFailure) in
            try Passcode.run("set", options)
        },
        CommandEntry("passcode change", "replace the passcode", about: aboutPasscodes) {
            (options) throws(CommandFailure) in
            try Passcode.run("change", options)
        },
        CommandEntry(
            "passcode remove", "remove the passcode and every item that is bound to it",
            about: """
                Removes the passcode, and deletes every item of every app that cannot be without it: those of
                --device-only, biometry and current-set. It lists them and asks you to type the word remove. Other
                protected items cannot be read until a passcode is set again. The daemon asks for the passcode.
                """
        ) { (options) throws(CommandFailure) in
            try Passcode.run("remove", options)
        },
        CommandEntry("passcode check", "ask for the passcode; a correct one ends a lockout of the sensor") {
            (options) throws(CommandFailure) in
            try Passcode.run("check", options)
        },
    ]

    static let store = [
        CommandEntry(
            "lock", "lock the keychain and wipe its keys from memory; never prompts",
            about: """
                Locks the keychain: prompts end, the proofs of all apps are revoked, and keys are wiped from memory.
                Items of the classes AfterFirstUnlock and Always stay readable. A passcode must be set.
                """
        ) { (options) throws(CommandFailure) in
            try Lock.run(locks: true, options)
        },
        CommandEntry("unlock", "unlock the keychain with a finger or the passcode") {
            (options) throws(CommandFailure) in
            try Lock.run(locks: false, options)
        },
        CommandEntry(
            "status", "show the daemon, the store and the sensor",
            about: "Shows tier, daemon, store, sensor, passcode and enclave. Fails when the store cannot be used.",
            action: StatusCommand.run),
        CommandEntry(
            "restart", "end the daemon, so that the next call starts it with its present files",
            about: """
                Ends your own daemon, which reads latchkeyd.conf when it starts. Prompts end, and the next command or app
                starts it again. The services of the system are restarted by root: systemctl restart latchkeyd
                """, action: Restart.run),
        CommandEntry(
            "doctor", "show what this machine has and lacks, and the next steps",
            [], [CommandOption(.report, "print what can be sent to the maintainers")],
            about: """
                Examines kernel, tier, services, store, sensor, session, agent, enclave, SDK and compiler. Each line is
                ok, absent (an optional part) or attention, with the command that mends it. Changes nothing and starts
                no daemon. The exit code is 1 if a line needs attention. A report has no names, serial numbers or
                secrets: it says which system, readers, TPM and PAM modules there are, and how fast the TPM is (as root).
                """, action: DoctorCommand.run),
        CommandEntry(
            "export", "write a backup of the items that may leave this device", [CommandArgument("FILE", .file)],
            [.replaceFile],
            about: """
                Writes the items of every app that are not bound to this device into FILE, encrypted by the daemon. The
                daemon's prompt asks for the passcode and shows the recovery code once; this command never receives the
                code. Without the code nothing in the file can be read. Items that are left out are listed with the
                reason. Without a passcode only the items of this command's own group are written.
                """, action: Backup.write),
        CommandEntry(
            "import", "add the items of a backup", [CommandArgument("FILE", .file)],
            about: """
                Adds the items of a backup. The daemon's prompt asks for the passcode and the recovery code. The whole
                file is verified first: if it was cut or changed, nothing is added. Items that already exist stay
                unchanged, so an interrupted import can be repeated.
                """, action: Backup.read),
        CommandEntry(
            "migrate", "move your own store to the system's keychain", [],
            [
                CommandOption(.dryRun, "only report what would happen"),
                CommandOption(.discard, "delete what remains of a store that was moved"),
            ],
            about: """
                Moves the items of your own store (tier user) to the keychain of the system, which has another user's
                process between your programs and the secrets. First reports what happens to each item: moved,
                re-wrapped (its secret needs a proof), kept in the own store, or lost. If an item would be kept or lost,
                asks you to type the word move. The system's keychain asks for its passcode and your own store for its
                own; this command never sees a secret.

                All items are moved, or none. Programs use the own store until the last step, and the system's keychain
                from then on. An interrupted move can be repeated; a second one changes nothing.

                --discard deletes the folder of the own store after the move, with the items that were kept. It asks
                you to type the word discard.
                """, action: Migrate.run),
        CommandEntry(
            "log", "show the audit log: what was written, used and refused, by which program", [],
            [
                CommandOption(.limit, "only the newest entries"),
                CommandOption(.verify, "verify that no entry is missing or changed"),
                CommandOption(.daemon, "the daemon's own log instead"),
            ],
            about: """
                Shows the audit log, oldest entry first: every write, every use of a protected item, every refusal. Reads of
                items without a protection are counted, as in "used x3", and written at the latest when the log is shown.
                So are refusals of a program within a minute. The process is "several" if such requests were not all of one.
                --verify follows the chain from the first entry to the last and reports whether it is complete, or at
                which entry it breaks. --json writes one object a line.

                --daemon shows the daemon's own log: starts, ends, and failures that were not reported to a program. It
                reads daemon.log in the store's folder and needs no daemon.
                """, action: LogCommand.run),
        CommandEntry(
            "check", "verify that everything in the store is as it was stored", [],
            [
                CommandOption(.restore, "restore quarantined items that authenticate again"),
                CommandOption(.accept, "use the store as it is, after a restored backup"),
            ],
            about: """
                Checks every row, index and record of the store, the audit log and the database itself, reports each
                problem and what to do, and changes nothing. Protected secrets are verified in their encrypted form, so
                no passcode is needed, and no secret leaves the daemon. Fails if there is a problem.

                --restore restores quarantined items that authenticate again, for example after the right key or anchor
                file was put back. Nothing is deleted or replaced; each item that stays quarantined is listed with the
                reason.

                --accept uses a store as it is that looks restored from a backup or changed by another program. The
                daemon's prompt, on your terminal or in a window, asks for the passcode, if one is set, and for the word
                accept.
                """, action: CheckCommand.run),
        CommandEntry(
            "recover", "open a keychain on a TPM with its recovery code, and set a new passcode",
            about: """
                For tier tpm: after a forgotten passcode, after 20 wrong ones in a row, and after the TPM was cleared or
                replaced. The daemon's prompt asks for the recovery code, which it showed when the passcode was set, and
                for a new passcode, and shows a new recovery code. This command never receives any of them.

                Every item stays, except keys of the Secure Enclave that were in another TPM, or that only the earlier
                passcode released: they are listed, the latter also before the prompt. If the command is interrupted,
                repeat it with the code that was shown last; if that is refused, with the one before.
                """, action: Recover.run),
        CommandEntry(
            "reset", "for a forgotten passcode: delete the items that need a proof", [],
            [CommandOption(.protected, "ask for the passcode, if it can still be checked")],
            about: """
                Deletes every item of every app that asks for a finger, a face or the passcode, and the passcode itself.
                Lists them and asks you to type the word reset. Other items stay. The deleted ones cannot be restored.

                --protected is for a store whose file anchor is lost: it asks you to type the word discard, and the
                daemon asks for the passcode, if it can still be checked. The system's services ask for the password of
                your account if they have no passcode.
                """, action: WaysOut.reset),
        CommandEntry(
            "apps", "show or revoke which apps may use Face ID", [],
            [
                CommandOption(.revoke, "refuse an app from now on"),
                CommandOption(.forget, "let an app ask again"),
            ],
            about: """
                Shows the apps that have asked to use Face ID and the answers they got. Which programs may always or never
                read an item that another one stored, is shown by: latchkey secrets answers.
                """, action: Apps.run),
    ]
}
