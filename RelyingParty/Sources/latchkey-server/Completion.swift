// SPDX-License-Identifier: Apache-2.0

internal import CommandWords

/// `latchkey-server complete`: the candidates at the cursor, for the completion of bash, zsh and fish. Each line is a
/// candidate, a tab and its meaning; the line `:files` means names of files.
enum Completion {
    /// - Parameter words: the words after `latchkey-server`; the last one is being typed and can be empty.
    static func lines(_ words: [String]) -> [String] {
        let (typed, before) = (words.last ?? "", Array(words.dropLast()))
        guard let first = before.first else {
            return [CompletionLines.files]
                + CompletionLines.matching(
                    typed, [("help", "show the help"), ("--help", "show the help"), ("--version", "")])
        }
        if before.count == 1 { return CompletionLines.matching(typed, Commands.all.map { ($0.name, $0.summary) }) }
        guard first != "help", let command = Commands.named(before[1]) else { return [] }
        return candidates(command, before.dropFirst(2), typed)
    }

    private static func candidates(_ command: Command, _ rest: ArraySlice<String>, _ typed: String) -> [String] {
        if let value = command.options.first(where: { $0.word == rest.last })?.value { return values(value, typed) }
        if typed.hasPrefix("-"), !rest.contains("--") {
            return CompletionLines.matching(typed, (command.options + [.help]).map { ($0.word, $0.summary) })
        }
        let given = CompletionLines.argumentCount(rest) { word in
            command.options.contains { $0.word == word && $0.value != nil }
        }
        return given < command.arguments.count ? values(command.arguments[given], typed) : []
    }

    private static func values(_ argument: String, _ typed: String) -> [String] {
        let name = argument.filter { $0 != "[" && $0 != "]" }
        if name == "FILE" { return [CompletionLines.files] }
        return name.contains("|")
            ? CompletionLines.matching(typed, name.split(separator: "|").map { (String($0), "") }) : []
    }
}
