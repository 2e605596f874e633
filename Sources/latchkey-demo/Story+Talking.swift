// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Story {
    func say(_ words: String) { Screen.write(words) }

    func step(_ words: String) { Screen.write("\n== \(words)") }

    func done(_ words: String) { Screen.write("ok: \(words)") }

    /// Fails the demo, loudly, when something is not as it was said to be.
    func check(_ isTrue: Bool, _ what: String) throws {
        guard isTrue else { throw DemoFailure("not so: \(what)") }
    }

    /// Lets a person do something; a slip may be mended, three may not.
    /// What to do is said here and in the prompt itself, which may cover these words.
    func withPerson(_ instruction: String, _ body: (String) throws -> String?) throws {
        var slip: String?
        for _ in 1...3 {
            Screen.write(instruction)
            slip = try body(instruction)
            guard let slip else { return }
            Screen.write("That was something else: \(slip). Once more.")
        }
        throw DemoFailure("not so after three tries: \(instruction) (\(slip ?? ""))")
    }

    func ask(_ question: String) throws -> String {
        Screen.write(question, terminator: "")
        guard let line = readLine(), line.utf8.count >= 4 else {
            throw DemoFailure("a secret has at least four characters, or the search at the end would say nothing")
        }
        return line
    }
}
