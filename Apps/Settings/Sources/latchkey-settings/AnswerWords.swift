// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop

/// The texts about the answers to programs that wanted to read a secret of another one.
enum AnswerWords {
    static let title = words("Answers to Programs")
    static let description = words(
        """
        Your answers to programs that wanted to read what another one had stored. If you withdraw one, the program asks \
        again. They are a courtesy among your own programs: one of them can act as another.
        """)
    static let yourAnswers = words("Your answers")
    static let mayRead = words("May always read it")
    static let mayReadInSession = words("May read it until you log out")
    static let neverReads = words("Never reads it")
    static let withdraw = words("Withdraw")
    static let withdrawing = words("Withdrawing the answer…")

    /// The name of a program in the menu; otherwise its file name, with those that started it.
    static func name(_ program: AnsweredProgram) -> String {
        program.app?.name ?? program.programs.map(fileName).joined(separator: " ← ")
    }

    /// How many answers there are, and for a program that the menu does not have, where it is.
    static func subtitle(_ program: AnsweredProgram) -> String {
        let count = program.answers.count
        let text = words.count(count, "\(count) answer", "\(count) answers")
        // What the daemon sends may name no program.
        guard program.app == nil, let path = program.programs.first else { return text }
        return "\(text)\n\(path)"
    }

    static func meaning(_ answer: KeychainControl.ProgramAnswer) -> String {
        guard answer.mayRead else { return neverReads }
        return answer.endsWithSession ? mayReadInSession : mayRead
    }

    static func item(_ answer: KeychainControl.ProgramAnswer) -> String {
        switch answer.item {
        case nil: words("An item that was deleted")
        case ""?: AppsWords.noName
        case let label?: label
        }
    }

    static func wasWithdrawn(_ answer: KeychainControl.ProgramAnswer, _ program: String) -> String {
        words("\(program) asks again before it reads “\(item(answer))”.")
    }

    static func wereListed(_ count: Int) -> String {
        count == 0
            ? words("No answer is stored.")
            : words.count(count, "\(count) answer is listed.", "\(count) answers are listed.")
    }

    private static func fileName(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
}
