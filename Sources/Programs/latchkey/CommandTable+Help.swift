// SPDX-License-Identifier: Apache-2.0

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
