// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// One command, or one verb of a command: its name, arguments, options and action.
///
/// The table is the only description of the command line: parsing, help, suggestions and the shells' completion use it,
/// and a test compares the manual page with it.
struct CommandEntry: Sendable {
    typealias Action = @Sendable (Options) throws(CommandFailure) -> Void

    /// `["set"]`, or `["key", "sign"]`.
    let words: [String]
    /// One line, without a full stop.
    let summary: Phrase
    let arguments: [CommandArgument]
    /// Its own options; `--help` and `--json` are added.
    let options: [CommandOption]
    /// Paragraphs that `--help` shows besides the lists.
    let about: Phrase
    let action: Action

    init(
        _ words: String, _ summary: Phrase, _ arguments: [CommandArgument] = [], _ options: [CommandOption] = [],
        takesJSON: Bool = true, about: Phrase = "", action: @escaping Action
    ) {
        self.words = words.split(separator: " ").map(String.init)
        self.summary = summary
        self.arguments = arguments
        self.options =
            options + (takesJSON ? [CommandOption(.json, "write JSON")] : [])
            + [CommandOption(.help, "show this help")]
        self.about = about
        self.action = action
    }

    var name: String { words.joined(separator: " ") }

    /// Whether its arguments are a command with words of its own.
    var executes: Bool { if case .command? = arguments.last?.kind { true } else { false } }

    func option(_ name: OptionName) -> CommandOption? { options.first { $0.name == name } }
}

/// A command that is followed by a verb.
struct CommandGroup: Sendable {
    let name: String
    let summary: Phrase
    let about: Phrase
}

/// An argument of a command that is not an option.
struct CommandArgument: Sendable {
    enum Kind: Sendable {
        case text, item, key, file, group, command
        /// A word, an equals sign and the name of an item.
        case assignment
        case choice([String])
    }

    /// The name in the usage line, such as `NAME`.
    let name: String
    let kind: Kind
    let isOptional: Bool
    /// Whether it may be given several times; only of the last argument.
    let repeats: Bool

    init(_ name: String, _ kind: Kind = .text, isOptional: Bool = false, repeats: Bool = false) {
        (self.name, self.kind, self.isOptional, self.repeats) = (name, kind, isOptional, repeats)
    }

    static let item = CommandArgument("NAME", .item)
    static let items = CommandArgument("NAME", .item, repeats: true)
    static let key = CommandArgument("NAME", .key)
    static let command = CommandArgument("COMMAND", .command, repeats: true)
    static let input = CommandArgument("FILE", .file, isOptional: true)
}

struct CommandOption: Sendable {
    let name: OptionName
    let summary: Phrase

    init(_ name: OptionName, _ summary: Phrase) { (self.name, self.summary) = (name, summary) }

    static let deviceOnly = CommandOption(
        .deviceOnly, "keep it out of backups; a protected one is deleted with the passcode")
    static let service = CommandOption(.service, "the service that NAME belongs to; latchkey is the default")
    static let groupOfName = CommandOption(.group, "the access group of the item, if several have one of that name")
    static let replaceFile = CommandOption(.replace, "replace a file that exists")
}

/// All options. An option has the same value and letter in every command that has it.
enum OptionName: String, CaseIterable, Sendable {
    case service, group, label, protect, replace
    case allowEmpty = "allow-empty"
    case deviceOnly = "device-only"
    case all
    case type, enclave, hash, pss, signature, output, format, hex, base64
    case limit, verify, daemon, restore, accept, protected, revoke, forget, other, ready, yes, force
    case dryRun = "dry-run"
    case discard
    case ssh, reuse
    case party, nonce, state, root, known, device
    case publicKey = "public-key"
    case allowUnbound = "allow-unbound"
    case reader
    case report
    case foreground, kill, sh, csh
    case env, netrc, undo
    case collection, item
    case cargoPlugin = "cargo-plugin"
    case json, help

    /// The value of the option; nil if it has none.
    var value: CommandArgument? {
        switch self {
        case .service: CommandArgument("SERVICE")
        case .group: CommandArgument("GROUP", .group)
        case .label: CommandArgument("TEXT")
        case .protect: CommandArgument("RULE", .choice(AccessControl.protectionNames))
        case .type: CommandArgument("TYPE", .choice(KeyChoice.allCases.map(\.rawValue)))
        case .hash: CommandArgument("HASH", .choice(["sha256", "sha384", "sha512"]))
        case .signature, .output, .state, .root, .device, .publicKey: CommandArgument("FILE", .file)
        case .party: CommandArgument("PARTY")
        case .reader: CommandArgument("READER")
        case .nonce: CommandArgument("HEX")
        case .known: CommandArgument("NAME")
        case .format: CommandArgument("FORMAT", .choice(PublicFormat.allCases.map(\.rawValue)))
        case .limit: CommandArgument("NUMBER")
        case .reuse: CommandArgument("SECONDS")
        case .env: CommandArgument("NAME=ITEM", .assignment)
        case .netrc: CommandArgument("HOST=ITEM", .assignment)
        case .collection: CommandArgument("COLLECTION")
        case .item: CommandArgument("ITEM")
        case .revoke, .forget: CommandArgument("APP")
        case .replace, .allowEmpty, .deviceOnly, .all, .enclave, .pss, .hex, .base64, .verify, .daemon, .restore,
            .accept, .protected,
            .other, .ready, .yes, .force, .dryRun, .discard, .ssh, .allowUnbound, .report, .foreground, .kill, .sh,
            .csh,
            .undo, .cargoPlugin, .json, .help:
            nil
        }
    }

    var letter: Character? {
        switch self {
        case .help: "h"
        case .json: "j"
        case .service: "s"
        // Those of ssh-agent(1).
        case .foreground: "D"
        case .kill: "k"
        case .sh: "s"
        case .csh: "c"
        default: nil
        }
    }

    /// The option as it is typed, such as `--service`.
    var word: String { "--" + rawValue }
}

/// Every command.
enum CommandTable {
    static let entries: [CommandEntry] =
        items + tools + keys + attestation + ssh + proofs + passcodes + fingerprint + secrets + store + admin
        + simulation + help

    static let groups = [
        CommandGroup(
            name: "credential", summary: "store the passwords of git, docker and cargo, for which each calls this",
            about: aboutCredentials),
        CommandGroup(
            name: "setup", summary: "make git, docker or cargo keep their passwords in this keychain", about: aboutSetup
        ),
        CommandGroup(
            name: "key", summary: "make key pairs; sign, verify, encrypt and decrypt with them", about: aboutKeys),
        CommandGroup(name: "proof", summary: "verify that keys of other devices cannot leave them", about: aboutProofs),
        CommandGroup(name: "passcode", summary: "set, change, remove or check the passcode", about: aboutPasscodes),
        CommandGroup(name: "fingerprint", summary: "enroll, list, delete or try fingers", about: aboutFingerprint),
        CommandGroup(
            name: "secrets", summary: "be the keyring of programs that use libsecret", about: aboutSecrets),
        CommandGroup(name: "admin", summary: "manage the keychains of other users, as root", about: aboutAdmin),
        CommandGroup(name: "sim", summary: "control the machine of a simulated daemon", about: aboutSimulation),
    ]

    /// The names of commands and groups, in the order of the table.
    static var names: [String] {
        entries.reduce(into: []) { names, entry in
            if names.last != entry.words[0] { names.append(entry.words[0]) }
        }
    }

    static func group(_ name: String) -> CommandGroup? { groups.first { $0.name == name } }

    static func verbs(_ group: String) -> [CommandEntry] {
        entries.filter { $0.words.count == 2 && $0.words[0] == group }
    }

    /// Verbs in an earlier spelling, which are still accepted. Help, hints and completion have the present one.
    private static let earlier = [
        ["fingerprint", "enrol"]: "enroll", ["key", "enrol"]: "enroll", ["sim", "enrol"]: "enroll",
        ["sim", "unenrol"]: "unenroll",
    ]

    /// Returns the entry that `words` begin with, and the remaining words.
    static func entry(_ given: [String]) throws(CommandFailure) -> (CommandEntry, [String]) {
        var words = given
        if let verb = earlier[Array(words.prefix(2))] { words[1] = verb }
        let name = words.first ?? ""
        guard !name.hasPrefix("-") else {
            throw .usage("\(name) is no command", "Options follow the command. See: latchkey help")
        }
        if group(name) != nil {
            let verbs = verbs(name).map { $0.words[1] }
            guard words.count > 1, !words[1].hasPrefix("-") else {
                throw .usage("\(name) needs one of: \(verbs.joined(separator: ", "))", "See: latchkey help \(name)")
            }
            guard let entry = entries.first(where: { $0.words == Array(words[..<2]) }) else {
                throw .usage("unknown: \(name) \(words[1])", Suggestion.hint(words[1], verbs, help: name))
            }
            return (entry, Array(words[2...]))
        }
        guard let entry = entries.first(where: { $0.words == [name] }) else {
            throw .usage("unknown command \(name)", Suggestion.hint(name, names, help: nil))
        }
        return (entry, Array(words.dropFirst()))
    }
}
