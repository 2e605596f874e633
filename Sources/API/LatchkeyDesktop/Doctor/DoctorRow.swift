// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// One line of `latchkey doctor`: a part of the machine, what was found, and the next step if there is one.
package struct DoctorRow: Equatable, Sendable {
    /// The result of an examination.
    package enum State: String, Sendable {
        case ok
        /// Something does not work, or protects less than it should.
        case attention
        /// An optional part that is not there, or not known.
        case absent
    }

    /// A command for the shell that mends what was found.
    package struct Hint: Equatable, Sendable {
        package let command: String
        package let needsRoot: Bool

        package init(_ command: String, needsRoot: Bool = false) {
            (self.command, self.needsRoot) = (command, needsRoot)
        }
    }

    package let name: String
    package let state: State
    /// What was found, as a phrase for people.
    package let found: Phrase
    /// The next step; nil if nothing needs to be done, or if no command can do it.
    package let hint: Hint?
    /// Whether the part works although it needs attention: it protects less than it should.
    package let isWeak: Bool

    /// The name as a text for people.
    package var title: Phrase { Phrase(template: name, arguments: []) }

    package init(_ name: String, _ state: State, _ found: Phrase, _ hint: Hint? = nil, isWeak: Bool = false) {
        (self.name, self.state, self.found, self.hint) = (name, state, found, hint)
        self.isWeak = isWeak
    }
}

/// A path as a word of a command.
enum ShellWord {
    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,=")

    /// Quotes the text unless the shell takes each of its characters literally: a path that another user chose must not
    /// become a command.
    static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.allSatisfy(plain.contains) { return text }
        var word = "'"
        for character in text { word += character == "'" ? "'\\''" : String(character) }
        return word + "'"
    }
}
