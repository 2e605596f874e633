// SPDX-License-Identifier: Apache-2.0

import CommandWords
import LatchkeyClient
import LatchkeyModel
import SSHAgent

/// `latchkey complete`: the candidates at the cursor, for the completion of bash, zsh and fish. Each line is a
/// candidate, a tab and its meaning; the line `:files` means names of files.
enum Completion {
    /// - Parameter words: the words after `latchkey`; the last one is being typed and can be empty.
    static func lines(_ words: [String]) -> [String] {
        let typed = words.last ?? ""
        let before = Array(words.dropLast())
        guard let first = before.first else { return commands(typed) }
        let name = first == "help" ? Array(before.dropFirst()) : before
        if first == "help", name.isEmpty { return commands(typed) }
        if let group = CommandTable.group(name[0]), name.count == 1 {
            return matching(typed, CommandTable.verbs(group.name).map { ($0.words[1], $0.summary.description) })
        }
        guard first != "help", let (entry, rest) = try? CommandTable.entry(before) else { return [] }
        return candidates(entry, rest, typed)
    }

    private static func commands(_ typed: String) -> [String] {
        matching(
            typed,
            CommandTable.names.map { name in
                (
                    name,
                    CommandTable.group(name)?.summary.description
                        ?? CommandTable.entries.first { $0.words == [name] }?.summary.description ?? ""
                )
            })
    }

    private static func candidates(_ entry: CommandEntry, _ rest: [String], _ typed: String) -> [String] {
        if let option = entry.options.first(where: { $0.name.word == rest.last }), let value = option.name.value {
            return values(value, typed)
        }
        let given = CompletionLines.argumentCount(rest) { word in
            entry.options.contains { $0.name.word == word && $0.name.value != nil }
        }
        if typed.hasPrefix("-"), !rest.contains("--"), !entry.executes || given == 0 {
            return matching(typed, entry.options.map { ($0.name.word, $0.summary.description) })
        }
        if given < entry.arguments.count { return values(entry.arguments[given], typed) }
        guard let last = entry.arguments.last, last.repeats else { return [] }
        return values(last, typed)
    }

    private static func values(_ argument: CommandArgument, _ typed: String) -> [String] {
        switch argument.kind {
        case .text: []
        case .choice(let choices): matching(typed, choices.map { ($0, "") })
        case .file, .command: [CompletionLines.files]
        case .group: matching(typed, Client.declaredNames.map { ($0, "") })
        case .item: matching(typed, stored(.genericPassword, .account))
        case .assignment:
            typed.firstIndex(of: "=").map { sign in
                let start = typed[...sign]
                return matching(typed, stored(.genericPassword, .account).map { (start + $0.0, "") })
            } ?? []
        case .key: matching(typed, stored(.key, .applicationTag))
        }
    }

    /// The names in the command's access groups, read without a prompt and without secrets. Empty without a daemon.
    private static func stored(_ itemClass: ItemClass, _ attribute: AttributeCode) -> [(String, String)] {
        guard var items = try? Client.command.items(ItemQuery(itemClass: itemClass)) else { return [] }
        if itemClass == .key { items += (try? Client.ssh.items(SSHKeyMark.query)) ?? [] }
        let names = items.compactMap { item -> String? in
            switch item.attributes?[attribute] {
            case .text(let text): text
            case .data(let bytes): String(validating: bytes, as: UTF8.self)
            default: nil
            }
        }
        return Set(names).sorted().map { ($0, "") }
    }

    /// A stored name is text of an app: it must not control the terminal or end the line.
    private static func matching(_ typed: String, _ candidates: [(String, String)]) -> [String] {
        CompletionLines.matching(
            typed, candidates.map { word, meaning in (word.withoutControls, String(meaning.prefix { $0 != "\n" })) })
    }
}
