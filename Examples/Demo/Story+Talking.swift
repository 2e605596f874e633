// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Story {
    func say(_ words: String) { Screen.write(words) }

    func step(_ words: String) { Screen.write("\n== \(words)") }

    func done(_ words: String) { Screen.write("ok: \(words)") }

    /// Fails the demo unless the condition is true.
    func check(_ isTrue: Bool, _ what: String) throws {
        guard isTrue else { throw DemoFailure("expected: \(what)") }
    }

    /// Shows an instruction and runs `body`, up to three times until it returns nil; its result names the mistake.
    /// The instruction is also the reason in the prompt, which can cover this line.
    func withPerson(_ instruction: String, _ body: (String) throws -> String?) throws {
        var slip: String?
        for _ in 1...3 {
            Screen.write(instruction)
            slip = try body(instruction)
            guard let slip else { return }
            Screen.write("That was different: \(slip). Please try again.")
        }
        throw DemoFailure("still wrong after three attempts: \(instruction) (\(slip ?? ""))")
    }

    func ask(_ question: String) throws -> String {
        Screen.write(question, terminator: "")
        guard let line = readLine(), line.utf8.count >= 4 else {
            throw DemoFailure("the secret needs at least four characters, or the search at the end proves nothing")
        }
        return line
    }
}
