// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// The words after a command.
struct Options {
    var arguments: [String] = []
    var service = "latchkey"
    var isServiceGiven = false
    var label: String?
    var protection: String?
    var replaces = false
    var isJSON = false
    var wantsHelp = false
    var isOther = false
    /// Apps whose answer about faces is taken back, or forgotten.
    var revoked: String?
    var forgotten: String?
    /// How many entries of the trail, and whether it is checked.
    var limit: String?
    var verifies = false
    /// Whether the daemon's own log is meant.
    var isOfDaemon = false
    /// Whether rows that were put aside are brought back.
    var restores = false
    /// Whether a store that does not fit together is used as it is.
    var accepts = false
    /// Whether only what asks for a proof is deleted.
    var isProtectedOnly = false
    var key = KeyOptions()

    private static let known: [(name: StaticString, takesValue: Bool, letter: Character)] = [
        ("help", false, "h"), ("json", false, "j"), ("service", true, "s"), ("label", true, "l"),
        ("protect", true, "p"), ("replace", false, "r"), ("other", false, "o"),
        ("revoke", true, "v"), ("forget", true, "f"),
        ("limit", true, "n"), ("verify", false, "c"), ("restore", false, "y"), ("daemon", false, "z"),
        ("accept", false, "A"), ("protected", false, "P"),
        ("type", true, "t"), ("enclave", false, "e"), ("hash", true, "d"), ("pss", false, "u"),
        ("signature", true, "g"), ("output", true, "w"), ("format", true, "m"), ("hex", false, "x"),
        ("base64", false, "b"),
    ]

    /// Reads them with getopt_long; options and names may be mixed.
    init(_ command: Command, _ words: [String]) throws(CommandFailure) {
        let copies = ([command.rawValue] + words).map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        var argv: [UnsafeMutablePointer<CChar>?] = copies + [nil]
        var table = Options.known.map { entry in
            option(
                name: UnsafeRawPointer(entry.name.utf8Start).assumingMemoryBound(to: CChar.self),
                has_arg: entry.takesValue ? 1 : 0, flag: nil, val: CInt(entry.letter.asciiValue ?? 0))
        }
        table.append(option())
        // The library's own words name no hint, so it is told to say nothing.
        latchkey_options_quiet()
        while true {
            let found = getopt_long(CInt(copies.count), &argv, ":hjs:", table, nil)
            if found == -1 { break }
            let value = latchkey_option_argument().map { String(cString: $0) } ?? ""
            switch Character(Unicode.Scalar(UInt8(truncatingIfNeeded: found))) {
            case "h": wantsHelp = true
            case "j": isJSON = true
            case "s":
                service = value
                isServiceGiven = true
            case "l": label = value
            case "p": protection = value
            case "r": replaces = true
            case "o": isOther = true
            case "v": revoked = value
            case "f": forgotten = value
            case "n": limit = value
            case "c": verifies = true
            case "y": restores = true
            case "z": isOfDaemon = true
            case "A": accepts = true
            case "P": isProtectedOnly = true
            case let letter where key.take(letter, value): break
            case ":":
                throw .usage(
                    "an option of \(command.rawValue) needs a value", "See: latchkey \(command.rawValue) --help")
            default:
                let word = argv[Int(latchkey_option_index()) - 1].map { String(cString: $0) } ?? ""
                let letter = Character(Unicode.Scalar(UInt8(truncatingIfNeeded: latchkey_option_letter())))
                // A letter among others in one word: the index is still before that word.
                let isWord = letter == "\0" || (word.hasPrefix("--") && word.contains("="))
                throw .usage(
                    "unknown option \(isWord ? word : "-\(letter)")", "See: latchkey \(command.rawValue) --help")
            }
        }
        for index in Int(latchkey_option_index())..<copies.count {
            arguments.append(argv[index].map { String(cString: $0) } ?? "")
        }
    }

    /// The one name a command takes.
    func name(of command: String) throws(CommandFailure) -> String {
        guard arguments.count == 1, !arguments[0].isEmpty else {
            throw .usage("\(command) takes one name", "See: latchkey \(command) --help")
        }
        return arguments[0]
    }
}
