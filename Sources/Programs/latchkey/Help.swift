// SPDX-License-Identifier: Apache-2.0

import CommandWords
import LatchkeyModel
import LatchkeyPrompts
import LatchkeySystem

/// The output of --help and `latchkey help`, made from the table.
enum Help {
    /// The width of help in cells: that of the terminal, but at least 80, and at most 120, since longer lines are hard to
    /// read.
    private static var width: Int { min(120, max(80, StandardStream.output.columns ?? 80)) }

    static var overview: String {
        let rows = CommandTable.names.map { name -> (String, String) in
            if let group = CommandTable.group(name) {
                return (name + " VERB", localized(group.summary))
            }
            guard let entry = CommandTable.entries.first(where: { $0.words == [name] }) else { return (name, "") }
            return (
                ([name] + entry.arguments.map(\.shown)).joined(separator: " "), localized(entry.summary)
            )
        }
        return localized(
            """
            usage: latchkey COMMAND [options]

            Stores secrets that only a finger or a passcode releases.

            \(list(rows))
            Options of a command: latchkey help COMMAND, or latchkey COMMAND --help. Version: latchkey --version

            Exit codes: 0 done, 1 failed, 64 wrong usage, 66 not found, 69 no daemon, 73 exists, 74 no input or output,
            77 not authenticated or cancelled, 130 ended by Ctrl-C; of latchkey run also 126 and 127, as of a shell.

            Environment: LATCHKEY_HOME (folder of the store), LATCHKEY_APP_ID (access groups), NO_COLOR,
            LATCHKEY_PROMPT=plain (prompts in sentences, for screen readers).

            """
        ).paragraphs(width: width)
    }

    /// The help of a command, a verb or a group.
    static func text(_ words: [String]) throws(CommandFailure) -> String {
        guard let name = words.first else { return overview }
        if words.count == 1, let group = CommandTable.group(name) { return text(group) }
        let (entry, rest) = try CommandTable.entry(words)
        guard let extra = rest.first else { return text(entry) }
        throw .usage("\(entry.name) has no verb \(extra)", "See: latchkey help \(entry.name)")
    }

    private static func text(_ group: CommandGroup) -> String {
        let verbs = CommandTable.verbs(group.name)
        let rows = verbs.map { entry in
            (
                (entry.words.dropFirst() + entry.arguments.map(\.shown)).joined(separator: " "),
                localized(entry.summary)
            )
        }
        return localized(
            """
            usage: latchkey \(group.name) VERB [options]

            \(list(rows))
            \(localized(group.about))

            Options of a verb: latchkey help \(group.name) VERB

            """
        ).paragraphs(width: width)
    }

    static func text(_ entry: CommandEntry) -> String {
        let usage = (["latchkey"] + entry.words + ["[options]"] + entry.arguments.map(\.shown)).joined(separator: " ")
        let summary = localized(entry.summary)
        let about =
            entry.about.isEmpty
            ? summary.prefix(1).uppercased() + summary.dropFirst() + "." : localized(entry.about)
        let rows = entry.options.map { option in
            let letter = option.name.letter.map { ", -\($0)" } ?? ""
            return (
                option.name.word + letter + (option.name.value.map { " \($0.name)" } ?? ""),
                localized(option.summary)
            )
        }
        return localized("usage: \(usage)\n\n\(about)\n\n\(list(rows))").paragraphs(width: width)
    }

    /// Two columns; further lines of a summary are indented below its first line.
    private static func list(_ rows: [(String, String)]) -> String {
        let names = rows.map(\.0.count).max() ?? 0
        return rows.map { name, summary in
            let indent = String(repeating: " ", count: names + 4)
            return "  " + name + String(repeating: " ", count: names - name.count + 2)
                + summary.lines(width: width - indent.count).joined(separator: "\n" + indent) + "\n"
        }.joined()
    }

    static var json: JSON {
        .array(
            CommandTable.entries.map { entry in
                .object([
                    ("command", .text(entry.name)), ("summary", .text(entry.summary.description)),
                    ("arguments", .array(entry.arguments.map { .text($0.shown) })),
                    ("options", .array(entry.options.map { .text($0.name.word) })),
                ])
            })
    }
}

extension CommandArgument {
    /// The argument in the usage line; brackets mark an optional one, three points one that may be repeated.
    var shown: String { (isOptional ? "[\(name)]" : name) + (repeats ? "..." : "") }
}

/// Suggestions for a mistyped word.
enum Suggestion {
    /// The hint for an unknown word.
    ///
    /// - Parameter help: the command whose help lists the known words; nil for the overview.
    static func hint(_ word: String, _ known: [String], help: String?) -> Phrase {
        let see = help.map { localized("See: latchkey help \($0)") } ?? localized("See: latchkey help")
        guard let nearest = nearest(word, known) else { return "\(see)" }
        return "\(localized("Did you mean \(nearest)?")) \(see)"
    }

    /// What other programs call a command, or a person would try first.
    private static let synonyms = [
        "ls": "list", "rm": "delete", "remove": "delete", "del": "delete", "show": "get", "read": "get", "cat": "get",
        "add": "set", "store": "set", "put": "set", "info": "status", "verify": "check",
    ]

    /// The known word that means the same, or the nearest one; nil if none is close enough.
    static func nearest(_ word: String, _ known: [String]) -> String? {
        if let same = synonyms[word], known.contains(same) { return same }
        return NearestWord.of(word, in: known)
    }
}
