// SPDX-License-Identifier: Apache-2.0

import LatchkeyWords

/// The output for a prompt as sentences, one per line, without redrawing: for screen readers, logs and simple
/// terminals.
package struct PlainSpeech: Sendable {
    private let look: Look
    private var said: PromptState?

    /// Creates the output of a prompt that is not shown yet.
    package init(look: Look) { self.look = look }

    /// Returns the sentences that are new since the previous state.
    package mutating func say(_ state: PromptState) -> String {
        defer { said = state }
        guard let said else { return lines(opening(state) + asking(state)) }
        let end = said.typedText?.isEmpty == false ? "\r\n" : ""
        if state.content != said.content {
            let ending = state.endingLine == said.endingLine ? [] : [state.endingLine + "."]
            // A code that stays is what the next keys change.
            return end + lines(asking(state) + ending) + look.shown(state.typedText ?? "")
        }
        if state.isCodeInsteadOfPasscode, !said.isCodeInsteadOfPasscode { return end + lines([state.feedback]) }
        if state.entry == .checking, said.entry != .checking { return end + lines([state.feedback]) }
        if state.chosen != said.chosen { return lines([state.choice]) }
        return echo(of: state.typedText ?? "", after: said.typedText ?? "")
    }

    /// What a terminal does with typed text that is shown: the new characters, and the erasure of removed ones.
    private func echo(of text: String, after shown: String) -> String {
        let common = zip(text, shown).prefix { $0 == $1 }.count
        let removed = CellWidth.of(look.shown(String(shown.dropFirst(common))))
        return String(repeating: "\u{8} \u{8}", count: removed) + look.shown(String(text.dropFirst(common)))
    }

    /// Returns the closing sentence; empty when the prompt was not shown.
    package mutating func end() -> String { said.map { lines([$0.closing]) } ?? "" }

    private func opening(_ state: PromptState) -> [String] {
        var sentences = [state.title + "."]
        sentences.append([state.question, state.action ?? state.reason].compactMap { $0 }.joined(separator: " ") + ".")
        sentences.append(state.programLine + ".")
        if let programs = state.spokenStartedByLine { sentences.append(programs + ".") }
        if let name = state.ownNameLine { sentences.append(name + ".") }
        sentences.append(state.endingLine + ".")
        if let simulation = state.simulation { sentences.append(simulation) }
        if !state.simulatedKeys.isEmpty {
            sentences.append(state.words("Keys of its sensor: \(PlainSpeech.list(state.simulatedKeys, state.words))."))
        }
        return sentences
    }

    private func asking(_ state: PromptState) -> [String] {
        var sentences = [
            state.feedback, [state.usage.map { $0 + "." }, state.wish].compactMap { $0 }.joined(separator: " "),
        ]
        if state.takesText, !state.showsTypedText {
            sentences[1] += " " + state.words("It is not shown while you type.")
        }
        if let code = state.recoveryCode { sentences[1] += " " + state.words("The code is: \(code)") }
        for note in state.answerNotes(inWindow: false) { sentences[1] += " " + note }
        // Without a result of an earlier attempt, the instruction comes first.
        if state.content.notice == .none { sentences.swapAt(0, 1) }
        sentences.append(state.words("Keys: \(PlainSpeech.list(state.keys, state.words))."))
        return [sentences.filter { !$0.isEmpty }.joined(separator: " ")]
    }

    private static func list(_ keys: [(key: String, title: String)], _ words: Words) -> String {
        keys.map { words("\($0.key) for \($0.title)") }.joined(separator: ", ")
    }

    private func lines(_ sentences: [String]) -> String { sentences.map { look.shown($0) + "\r\n" }.joined() }
}
