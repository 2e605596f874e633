// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension CommandTable {
    static let aboutCredentials: Phrase = """
        Each of these speaks the protocol that its tool expects on standard input and output, and is called by the tool:
        as git-credential-latchkey, docker-credential-latchkey and cargo-credential-latchkey. latchkey setup tells the
        tools. The passwords are internet passwords of the keychain, and are listed by: latchkey list --all
        """

    static let aboutSetup: Phrase = """
        Changes the configuration of your account for a tool, shows what it changes, and undoes it with --undo. What was
        there before is kept. A helper that is set already is replaced only with --replace.
        """

    private static let action = CommandArgument("ACTION")
    private static let protect = CommandOption(
        .protect, "what releases a new one; presence is the default once a passcode is set")
    private static let setup = [
        CommandOption(.undo, "undo the change"), CommandOption(.dryRun, "only show what would change"),
        CommandOption(.replace, "also if another helper is set; --undo sets that one again"),
    ]

    static let tools = [
        CommandEntry(
            "run", "give secrets to a command, in its environment or a netrc", [.command],
            [
                CommandOption(.env, "the item whose secret becomes the variable NAME; may be repeated"),
                CommandOption(.netrc, "the same in a netrc, for HOST or LOGIN@HOST; may be repeated"),
                .service, CommandOption(.group, "the access group of the items, if several have one of that name"),
            ], takesJSON: false,
            about: """
                Executes COMMAND in place of this process, with the secrets of items in its environment. No file and no
                argument has them. One prompt names the protected items and the command. If an item is missing or
                refused, the command is not started. A line feed at the end of a secret is left out.

                With --netrc, the variable NETRC is the path of a file without a name that only COMMAND and what it starts
                have open. HOST is a word of that file, and the login is LOGIN, or else the name of the item.

                  latchkey run --env GH_TOKEN=github -- gh issue list
                  latchkey run --netrc ada@example.com=web -- sh -c 'curl --netrc-file "$NETRC" https://example.com'

                Every program of yours can read the environment and the open files of COMMAND in /proc, unless the kernel
                forbids it. The exit status is that of COMMAND, 127 if there is no such command, and 126 if it cannot be executed.
                """, action: RunCommand.run),
        CommandEntry(
            "credential git", "get, store or erase a password for git", [action], [protect], takesJSON: false,
            about: """
                ACTION is get, store, erase or capability; git ignores others, and so does this command. Protocol, host,
                path and username select the item; erase also compares the password. Other fields are ignored.
                """, action: GitCredential.run),
        CommandEntry(
            "credential docker", "get, store, erase or list passwords for docker", [action], [protect],
            takesJSON: false,
            about: """
                ACTION is get, store, erase, list or version. Errors are written to standard output, where docker
                expects them.
                """, action: DockerCredential.run),
        CommandEntry(
            "credential cargo", "serve the tokens of registries to cargo", [],
            [protect, CommandOption(.cargoPlugin, "what cargo adds to the command; has no effect")], takesJSON: false,
            about: """
                Reads requests get, login and logout of version 1 of cargo's protocol, each a line of JSON, until standard
                input ends. A login without a token asks for it on the terminal.
                """, action: CargoCredential.run),
        CommandEntry(
            "setup git", "make git keep its passwords in this keychain", [], setup,
            about: "Adds latchkey to credential.helper in your configuration of git.", action: GitSetup.run),
        CommandEntry(
            "setup docker", "make docker keep its passwords in this keychain", [], setup,
            about: """
                Sets credsStore in config.json of ~/.docker or DOCKER_CONFIG. Passwords that docker has stored in that file
                stay there until the next docker login or docker logout.
                """, action: DockerSetup.run),
        CommandEntry(
            "setup cargo", "make cargo keep its tokens in this keychain", [], setup,
            about: """
                Sets registry.global-credential-providers in config.toml of ~/.cargo or CARGO_HOME. cargo 1.74 and later use
                it.
                """, action: CargoSetup.run),
    ]
}
