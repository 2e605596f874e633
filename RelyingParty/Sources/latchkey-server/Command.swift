// SPDX-License-Identifier: Apache-2.0

/// A command of the program: one row of the table in `Commands.swift`, from which help, completion and the checks of the
/// command line are made.
struct Command: Sendable {
    typealias Action = @Sendable (Invocation) throws -> Void

    let name: String
    /// The words that follow, as help shows them: `[NAME]` may be left out, `key|device` is one of two words, and `FILE`
    /// is completed with names of files.
    let arguments: [String]
    let options: [CommandOption]
    let summary: String
    /// Sentences for the help of the command; empty if the summary says everything.
    let about: String
    let action: Action

    init(
        _ name: String, _ summary: String, arguments: [String] = [], options: [CommandOption] = [], about: String = "",
        action: @escaping Action
    ) {
        self.name = name
        self.arguments = arguments
        self.options = options
        self.summary = summary
        self.about = about
        self.action = action
    }

    /// How many words may follow the name, besides options.
    var count: ClosedRange<Int> {
        let required = arguments.count { !$0.hasPrefix("[") }
        return required...max(required, arguments.count)
    }
}

/// An option of a command.
struct CommandOption: Sendable {
    /// With its two hyphens.
    let word: String
    /// The name of its value in the help; nil if it has none.
    let value: String?
    let summary: String

    init(_ word: String, _ summary: String, value: String? = nil) {
        self.word = word
        self.value = value
        self.summary = summary
    }

    static let json = CommandOption("--json", "writes JSON")
    static let removing = CommandOption("--remove", "ends it instead; keys and sessions of users stay")
    static let enrolling = CommandOption("--enroll", "also permits the service to make enrolment codes for its users")
    static let help = CommandOption("--help", "shows this help")
}
