// SPDX-License-Identifier: Apache-2.0

/// The words of the command line: a configuration, a command of the table, and its own words and options.
struct CommandLineWords {
    let configuration: String
    let command: Command
    let words: [String]
    let options: [String: String]

    /// - Parameter arguments: the words after the name of the program, at least one.
    init(_ arguments: [String]) throws(Usage) {
        let (first, rest) = (arguments.first ?? "", arguments.dropFirst())
        guard let name = rest.first, Commands.named(name) != nil || Commands.named(first) == nil else {
            if let command = Commands.named(first) {
                throw .command("the configuration is missing", hint: "Run: " + Help.usage(command))
            }
            throw .command("the command is missing", hint: "See: latchkey-server --help")
        }
        configuration = first
        command = try Self.command(name)
        (words, options) = try Self.parse(command, rest.dropFirst())
    }

    /// The command of a name, for `help` too.
    static func command(_ name: String) throws(Usage) -> Command {
        guard let command = Commands.named(name) else {
            throw .command(
                "there is no command \(shown(name))",
                hint: Suggestion.hint(name, Commands.all.map(\.name), help: "latchkey-server --help"))
        }
        return command
    }

    private static func parse(
        _ command: Command, _ arguments: ArraySlice<String>
    ) throws(Usage) -> ([String], [String: String]) {
        let help = "latchkey-server help \(command.name)"
        var (words, options, rest): ([String], [String: String], ArraySlice<String>) = ([], [:], arguments)
        while let word = rest.popFirst() {
            // After two hyphens every word is an argument, because a name can begin with one.
            if word == "--" {
                words += rest
                break
            }
            guard word.hasPrefix("-"), word != "-" else {
                words.append(word)
                continue
            }
            let known: [CommandOption] = command.options + [.help]
            guard let option = known.first(where: { $0.word == word }) else {
                throw .command(
                    "\(command.name) has no option \(shown(word))",
                    hint: Suggestion.hint(word, known.map(\.word), help: help))
            }
            var value = ""
            if let name = option.value {
                guard let next = rest.popFirst() else {
                    throw .command("\(word) needs a value \(name)", hint: "See: \(help)")
                }
                value = next
            }
            guard options.updateValue(value, forKey: word) == nil else {
                throw .command("\(word) is there twice", hint: "See: \(help)")
            }
        }
        guard options["--help"] != nil || command.count.contains(words.count) else {
            throw .command(
                words.count < command.count.lowerBound
                    ? "\(command.name) needs \(command.arguments[words.count])"
                    : "\(command.name) takes no word \(shown(words[command.count.upperBound]))",
                hint: "Run: " + Help.usage(command))
        }
        return (words, options)
    }

    /// A word for a message: without control characters, which could change a terminal, and not longer than a line.
    static func shown(_ word: String) -> String {
        String(
            String.UnicodeScalarView(
                word.unicodeScalars.prefix(60).map {
                    [.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
                        ? "\u{fffd}" : $0
                }))
    }
}
