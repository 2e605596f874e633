// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension CommandTable {
    static let aboutSecrets: Phrase = """
        Programs that use org.freedesktop.secrets, through libsecret for example, store their secrets in Latchkey if you choose
        so. Each item then has an owner, and another program is asked for before it reads one.
        """

    static let secrets = [
        CommandEntry(
            "secrets enable", "make Latchkey the keyring of your sessions", takesJSON: false,
            about: """
                The message bus then starts Latchkey when a program calls its keyring, and so does the service manager when you
                log in. Refuses while another keyring serves the session, and names it: copy its items first, and end it.
                """
        ) { (options) throws(CommandFailure) in
            try SecretsCommand.run("enable", options)
        },
        CommandEntry("secrets disable", "undo that; the items remain", takesJSON: false) {
            (options) throws(CommandFailure) in
            try SecretsCommand.run("disable", options)
        },
        CommandEntry("secrets status", "show which keyring serves the session") {
            (options) throws(CommandFailure) in
            try SecretsCommand.run("status", options)
        },
        CommandEntry(
            "secrets import", "copy the items of the keyring that serves the session", [],
            [CommandOption(.dryRun, "only report what would happen")],
            about: """
                Copies every item of another keyring, such as gnome-keyring, which is only read and asks in its own prompts to be
                unlocked. Items that are here already are passed over, so it can be repeated. The first time a program reads a
                copied item, you are asked.
                """
        ) { (options) throws(CommandFailure) in
            try SecretsCommand.run("import", options)
        },
        CommandEntry(
            "secrets export", "copy the items of programs to another keyring", [],
            [CommandOption(.dryRun, "only report what would happen")],
            about: """
                Copies every item of the programs to the keyring that serves the session, such as gnome-keyring, which asks in its
                own prompts to be unlocked. Disable Latchkey's first, and start the other one. Items that are there already are
                passed over, so it can be repeated; nothing is deleted here. You are asked before items of other programs are read.
                """
        ) { (options) throws(CommandFailure) in
            try SecretsCommand.run("export", options)
        },
        CommandEntry(
            "secrets answers", "show which programs may always or never read an item of another one", [],
            [CommandOption(.forget, "let a program ask again")]
        ) { (options) throws(CommandFailure) in
            try SecretsCommand.run("answers", options)
        },
        CommandEntry(
            "secrets protect", "choose what is proven before an item of a program is read",
            [CommandArgument("RULE", .choice(AccessControl.protectionNames))],
            [
                CommandOption(.collection, "the collection of the items; without it the one that exists always"),
                CommandOption(.item, "one item, by its label or identifier, instead of new ones"),
            ],
            takesJSON: false,
            about: """
                For the items that programs store from now on: nothing, a finger, a face or the passcode (presence), a finger or a
                face (biometry, current-set), or the passcode. A change needs what the rule demanded before. Items that are
                there keep theirs, but for the one that --item names: you are asked for it each time, what it demanded is proven
                once more, and the answers always and until logout for it end. --collection then says where it is.
                """
        ) { (options) throws(CommandFailure) in
            try SecretsCommand.protect(options)
        },
    ]
}
