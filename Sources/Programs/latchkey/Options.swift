// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem

/// The parsed words after a command, according to its entry of the table. An option that the entry does not have is
/// refused, so that no option is accepted and ignored.
///
/// Words are bytes: a path is used as it is, and everything else has to be UTF-8.
struct Options: Sendable {
    private(set) var arguments: [String] = []
    /// The words of a command to execute: bytes, and possibly empty.
    private(set) var command: [[UInt8]] = []
    /// The argument that is a path; no command has two.
    private var file: FilePath?
    private var values: [OptionName: [String]] = [:]
    private var paths: [OptionName: FilePath] = [:]
    private let entry: CommandEntry

    /// Parses the words; options and arguments may be mixed, and no word after `--` is an option.
    init(_ entry: CommandEntry, _ words: [[UInt8]]) throws(CommandFailure) {
        self.entry = entry
        let hyphen = UInt8(ascii: "-")
        var given: [[UInt8]] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == [hyphen, hyphen] {
                given += rest
                break
            }
            if word.starts(with: [hyphen, hyphen]) {
                try takeLong(word, &rest)
            } else if word.first == hyphen, word.count > 1 {
                try takeLetters(word, &rest)
            } else {
                given.append(word)
                guard entry.executes else { continue }
                // The words after the name of a command are its own.
                given += rest
                break
            }
        }
        if !wantsHelp { try takeArguments(given) }
    }

    func has(_ name: OptionName) -> Bool { values[name] != nil || paths[name] != nil }

    subscript(_ name: OptionName) -> String? { values[name]?.last }

    /// Every value of an option that may be given several times.
    func all(_ name: OptionName) -> [String] { values[name] ?? [] }

    subscript(path name: OptionName) -> FilePath? { paths[name] }

    /// The input file; nil for standard input, which "-" also names.
    var inputFile: FilePath? { file == FilePath("-") ? nil : file }

    /// The file of a command that has to have one, which "-" names like any other.
    var requiredFile: FilePath {
        get throws(CommandFailure) {
            guard let file else { throw .usage("\(entry.name) needs \(CommandArgument.input.name)", see) }
            return file
        }
    }

    // MARK: - Reading

    private mutating func takeLong(_ word: [UInt8], _ rest: inout ArraySlice<[UInt8]>) throws(CommandFailure) {
        let parts = word.dropFirst(2).split(
            separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let typed = String(showing: Array(parts[0]))
        guard let name = OptionName(rawValue: typed), entry.option(name) != nil else {
            throw unknown("--" + typed, name: typed)
        }
        guard name.value != nil else {
            guard parts.count == 1 else { throw .usage("\(name.word) takes no value", see) }
            values[name] = [""]
            return
        }
        try take(name, parts.count == 2 ? Array(parts[1]) : rest.popFirst())
    }

    /// Parses `-j`, several letters in one word, and a letter followed by its value.
    private mutating func takeLetters(_ word: [UInt8], _ rest: inout ArraySlice<[UInt8]>) throws(CommandFailure) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = entry.options.first(where: { $0.name.letter?.asciiValue == letter }) else {
                throw unknown("-" + String(showing: letter < 0x80 ? [letter] : [letter] + letters), name: nil)
            }
            guard option.name.value != nil else {
                values[option.name] = [""]
                continue
            }
            return try take(option.name, letters.isEmpty ? rest.popFirst() : Array(letters))
        }
    }

    private mutating func take(_ name: OptionName, _ value: [UInt8]?) throws(CommandFailure) {
        guard let value else { throw .usage("\(name.word) needs a value: \(name.value?.name ?? "")", see) }
        if case .file? = name.value?.kind {
            paths[name] = FilePath(bytes: value)
        } else {
            values[name, default: []].append(try text(value, of: name.word))
        }
    }

    private mutating func takeArguments(_ given: [[UInt8]]) throws(CommandFailure) {
        for (index, argument) in entry.arguments.enumerated() where !argument.isOptional {
            guard index < given.count, !given[index].isEmpty else {
                throw .usage("\(entry.name) needs \(argument.name)", see)
            }
        }
        var expected = entry.arguments
        if let last = expected.last, last.repeats {
            guard entry.executes || !given.contains([]) else { throw .usage("\(entry.name) needs \(last.name)", see) }
            expected += Array(repeating: last, count: max(0, given.count - expected.count))
        }
        guard given.count <= expected.count else {
            let unexpected = String(showing: given[expected.count])
            guard !entry.arguments.isEmpty else {
                throw .usage("\(entry.name) takes no argument; unexpected: \(unexpected)", see)
            }
            let taken = entry.arguments.map(\.name).joined(separator: localized(" and "))
            throw .usage("\(entry.name) takes only \(taken); unexpected: \(unexpected)", see)
        }
        for (argument, bytes) in zip(expected, given) {
            if case .file = argument.kind {
                file = FilePath(bytes: bytes)
                continue
            }
            if case .command = argument.kind {
                command.append(bytes)
                continue
            }
            let word = try text(bytes, of: argument.name)
            arguments.append(word)
            guard case .choice(let choices) = argument.kind, !choices.contains(word) else { continue }
            let list = choices.joined(separator: ", ")
            throw .usage("\(entry.name) takes one of: \(list); not \(word)", Suggestion.hint(word, choices, help: help))
        }
    }

    /// Refuses what is not UTF-8: repaired, it would name something else.
    private func text(_ bytes: [UInt8], of name: String) throws(CommandFailure) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .usage("\(name) is not valid UTF-8: \(String(showing: bytes))", "Names are UTF-8.")
        }
        return text
    }

    // MARK: - Refusing

    private var help: String { entry.name }

    private var see: Phrase { "See: latchkey help \(help)" }

    private func unknown(_ word: String, name: String?) -> CommandFailure {
        // Distinguishes an option of other commands from a typing error.
        if let name = name.flatMap(OptionName.init(rawValue:)) {
            let others = CommandTable.entries.filter { $0.option(name) != nil }.map(\.name)
            guard others.count <= 5 else { return .usage("\(entry.name) has no option \(word)", see) }
            return .usage(
                "\(entry.name) has no option \(word)",
                "\(localized("It is an option of: \(others.joined(separator: ", ")).")) \(localized(see))")
        }
        let known = entry.options.map(\.name.rawValue)
        guard let name, let nearest = Suggestion.nearest(name, known) else {
            return .usage("unknown option \(word)", see)
        }
        return .usage("unknown option \(word)", "\(localized("Did you mean \("--" + nearest)?")) \(localized(see))")
    }
}

// MARK: - By name

extension Options {
    var wantsHelp: Bool { has(.help) }
    var isJSON: Bool { has(.json) }
    var replaces: Bool { has(.replace) }
    var service: String { self[.service] ?? "latchkey" }
    var isServiceGiven: Bool { has(.service) }
    var label: String? { self[.label] }
    var protection: String? { self[.protect] }
}
