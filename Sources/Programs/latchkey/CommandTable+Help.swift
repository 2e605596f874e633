// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension CommandTable {
    static let help = [
        CommandEntry(
            "help", "show what a command does and takes",
            [
                CommandArgument("COMMAND", isOptional: true),
                CommandArgument("VERB", isOptional: true),
            ],
            about: "Shows the commands, or one command with its options. --json writes the whole table."
        ) { (options) throws(CommandFailure) in
            Output.write(options.isJSON ? Help.json.line + "\n" : try Help.text(options.arguments))
        }
    ]
}

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

extension CommandTable {
    static let ssh = [
        CommandEntry(
            "ssh-agent", "sign for ssh with keys of the enclave, after a finger or the passcode", [],
            [
                CommandOption(.reuse, "seconds for which one proof is enough for the same host and process; 0 to 300"),
                CommandOption(.allowUnbound, "also sign logins to a host that is not known"),
                CommandOption(.foreground, "stay in the foreground, and prompt on this terminal"),
                CommandOption(.kill, "end the agent that runs in the background"),
                CommandOption(.sh, "write lines for sh, also if SHELL is a csh"),
                CommandOption(.csh, "write lines for csh"),
            ], takesJSON: false,
            about: """
                Serves the keys that latchkey key create --ssh made. For a shell: eval "$(latchkey ssh-agent)". The agent
                runs in the background and is ended by --kill; where one runs already, the lines name that one. In the
                background it has no terminal, and its prompts appear in the window of latchkey-agent. Prompts name the
                host, the user and the program that asks.

                It signs a login to the host whose key signed the session (OpenSSH 8.9 and later prove that to the agent),
                and a message in the format of ssh-keygen -Y sign, which git uses. Everything else is refused. Without
                --reuse, every signature has a prompt. --allow-unbound is for programs that prove no session: the prompt
                then says that the host is unknown.
                """, action: SSHAgentCommand.run)
    ]
}

extension CommandTable {
    static let aboutFingerprint: Phrase = """
        The fingers of your account on this machine's fingerprint readers, which fprintd keeps for all programs. A change
        of them ends items of the rule current-set.

        FINGER is left- or right- with thumb, index-finger, middle-finger, ring-finger or little-finger. With several readers, the one that
        has the finger is used, else the first one; READER is the name of another one, or its number in the list.
        """

    static let fingerprint = [
        CommandEntry("fingerprint list", "list your enrolled fingers") { (options) throws(CommandFailure) in
            try FingerprintCommand.run("list", options)
        },
        CommandEntry(
            "fingerprint enroll", "enroll a finger; right-index-finger is the default",
            [CommandArgument("FINGER", isOptional: true)],
            [
                CommandOption(.reader, "use this reader"),
                CommandOption(.replace, "replace the print of the same finger without asking"),
            ], takesJSON: false,
            about: """
                Shows each scan as it is done. If the finger is enrolled already, its print is deleted before the new one
                is scanned, and none remains if you stop before the end; so the command asks you to type replace first.
                """
        ) { (options) throws(CommandFailure) in try FingerprintCommand.run("enroll", options) },
        CommandEntry(
            "fingerprint delete", "delete an enrolled finger", [CommandArgument("FINGER", isOptional: true)],
            [
                CommandOption(.all, "delete all of them"), CommandOption(.reader, "use this reader"),
                CommandOption(.yes, "delete without asking"),
            ], takesJSON: false
        ) { (options) throws(CommandFailure) in try FingerprintCommand.run("delete", options) },
        CommandEntry("fingerprint verify", "try whether a finger is recognised", takesJSON: false) {
            (options) throws(CommandFailure) in try FingerprintCommand.run("verify", options)
        },
    ]
}
