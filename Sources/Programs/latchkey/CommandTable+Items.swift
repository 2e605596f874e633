// SPDX-License-Identifier: Apache-2.0

extension CommandTable {
    static let items = [
        CommandEntry(
            "set", "store a secret from standard input or a hidden prompt", [.item],
            [
                CommandOption(.protect, "what releases it; presence is the default once a passcode is set"),
                .deviceOnly, .service,
                CommandOption(.group, "the access group of the item; the first one is the default"),
                CommandOption(.label, "a text that list shows"),
                CommandOption(.replace, "replace an item that exists"),
                CommandOption(.allowEmpty, "store an empty secret"),
            ],
            about: """
                Stores a secret. A pipe or a file on standard input is stored byte for byte; on a terminal the command
                reads one line, which is not shown, twice. Everything that can be checked is checked before it reads the
                secret.

                RULE says what releases the secret: presence (finger or passcode), biometry (any enrolled finger),
                current-set (only the fingers enrolled now), passcode, or none. Once a passcode is set, presence is the
                default; --replace keeps the rule of the item. With biometry and current-set an item stays on this device;
                others are part of a backup, unless --device-only is given.

                  printf %s "$TOKEN" | latchkey set token
                  latchkey set --protect none --service build token < token.txt

                echo adds a line feed, which is stored too; printf %s does not.
                """, action: Items.set),
        CommandEntry(
            "get", "write a secret to standard output", [.items],
            [
                .service, .groupOfName, CommandOption(.force, "write bytes that are not text to a terminal"),
            ],
            about: """
                Writes the secret to standard output, byte for byte. A protected one prompts first. Several are written
                on lines of their own, and one prompt names the protected ones; --json keeps their bytes apart.
                """,
            action: Items.get),
        CommandEntry(
            "list", "show what is stored, without any secret", [],
            [
                CommandOption(.service, "only the items of that service"),
                CommandOption(.group, "only the items of that access group"),
                CommandOption(.all, "the items of every app and of every class, with their owner"),
            ],
            about: """
                Shows names, services and protection of the passwords of your access groups, or with --all the items of
                every app with their owners. Only the system's keychain prompts, and only with --all: for a finger, a face
                or the passcode.
                """,
            action: Items.list),
        CommandEntry(
            "delete", "delete an item", [.item], [.service, .groupOfName],
            about: "Deletes the item. There is no undo.", action: Items.delete),
    ]
}
