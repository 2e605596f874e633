// SPDX-License-Identifier: Apache-2.0

/// The parsed words after a command, according to its entry of the table. An option that the entry does not have is
/// refused, so that no option is accepted and ignored.
struct Options: Sendable {
    private(set) var arguments: [String] = []
    private var values: [OptionName: String] = [:]
    private let entry: CommandEntry

    /// Parses the words; options and arguments may be mixed, and no word after `--` is an option.
    init(_ entry: CommandEntry, _ words: [String]) throws(CommandFailure) {
        self.entry = entry
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                arguments += rest
                break
            }
            if word.hasPrefix("--") {
                try takeLong(word, &rest)
            } else if word.hasPrefix("-"), word != "-" {
                try takeLetters(word, &rest)
            } else {
                arguments.append(word)
            }
        }
        if !wantsHelp { try checkArguments() }
    }

    func has(_ name: OptionName) -> Bool { values[name] != nil }

    subscript(_ name: OptionName) -> String? { values[name] }

    /// The last argument, if it is optional and given.
    var optionalArgument: String? {
        entry.arguments.last?.isOptional == true && arguments.count == entry.arguments.count ? arguments.last : nil
    }

    // MARK: - Reading

    private mutating func takeLong(_ word: String, _ rest: inout ArraySlice<String>) throws(CommandFailure) {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = OptionName(rawValue: String(parts[0])), entry.option(name) != nil else {
            throw unknown("--" + parts[0], name: String(parts[0]))
        }
        guard name.value != nil else {
            guard parts.count == 1 else { throw .usage("\(name.word) takes no value", see) }
            values[name] = ""
            return
        }
        try take(name, parts.count == 2 ? String(parts[1]) : rest.popFirst())
    }

    /// Parses `-j`, several letters in one word, and a letter followed by its value.
    private mutating func takeLetters(_ word: String, _ rest: inout ArraySlice<String>) throws(CommandFailure) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = entry.options.first(where: { $0.name.letter == letter }) else {
                throw unknown("-\(letter)", name: nil)
            }
            guard option.name.value != nil else {
                values[option.name] = ""
                continue
            }
            return try take(option.name, letters.isEmpty ? rest.popFirst() : String(letters))
        }
    }

    private mutating func take(_ name: OptionName, _ value: String?) throws(CommandFailure) {
        guard let value else { throw .usage("\(name.word) needs a value: \(name.value?.name ?? "")", see) }
        values[name] = value
    }

    private func checkArguments() throws(CommandFailure) {
        for (index, argument) in entry.arguments.enumerated() where !argument.isOptional {
            guard index < arguments.count, !arguments[index].isEmpty else {
                throw .usage("\(entry.name) needs \(argument.name)", see)
            }
        }
        if let last = entry.arguments.last, last.repeats {
            guard !arguments.contains("") else { throw .usage("\(entry.name) needs \(last.name)", see) }
            return
        }
        guard arguments.count <= entry.arguments.count else {
            let unexpected = arguments[entry.arguments.count]
            guard !entry.arguments.isEmpty else {
                throw .usage("\(entry.name) takes no argument; unexpected: \(unexpected)", see)
            }
            let taken = entry.arguments.map(\.name).joined(separator: localized(" and "))
            throw .usage("\(entry.name) takes only \(taken); unexpected: \(unexpected)", see)
        }
        for (argument, word) in zip(entry.arguments, arguments) {
            guard case .choice(let choices) = argument.kind, !choices.contains(word) else { continue }
            let list = choices.joined(separator: ", ")
            throw .usage("\(entry.name) takes one of: \(list); not \(word)", Suggestion.hint(word, choices, help: help))
        }
    }

    // MARK: - Refusing

    private var help: String { entry.name }

    private var see: String { localized("See: latchkey help \(help)") }

    private func unknown(_ word: String, name: String?) -> CommandFailure {
        // Distinguishes an option of other commands from a typing error.
        if let name = name.flatMap(OptionName.init(rawValue:)) {
            let others = CommandTable.entries.filter { $0.option(name) != nil }.map(\.name)
            return .usage(
                "\(entry.name) has no option \(word)",
                localized("It is an option of: \(others.joined(separator: ", ")).") + " " + see)
        }
        let known = entry.options.map(\.name.rawValue)
        guard let name, let nearest = Suggestion.nearest(name, known) else {
            return .usage("unknown option \(word)", see)
        }
        return .usage("unknown option \(word)", localized("Did you mean \("--" + nearest)?") + " " + see)
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
    /// The input file; nil for standard input, which "-" also names.
    var inputFile: String? { optionalArgument == "-" ? nil : optionalArgument }
}
