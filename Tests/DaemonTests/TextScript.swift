// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem

/// Shell commands with their expected output: the files of `Scripts`.
///
/// A line `$ command` is run by sh in the folder of an empty store; `> ` continues it. The following lines are its
/// expected output on both streams, then its exit code as `[64]` unless it is 0. In expected output, `<...>` matches
/// any text within a line, and a line `...` any lines. `# ` begins a comment.
struct TextScript {
    struct Step {
        var line: Int
        var command: String
        var expected: [String] = []
        var exitCode: CInt = 0
    }

    let steps: [Step]
    private static let checkout = Files.folder(of: Files.folder(of: Files.folder(of: #filePath)))

    init(_ text: String) {
        var steps: [Step] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("# ") || line == "#" { continue }
            if line.hasPrefix("$ ") {
                steps.append(Step(line: number + 1, command: String(line.dropFirst(2))))
            } else if line.hasPrefix("> "), let last = steps.indices.last, steps[last].expected.isEmpty {
                steps[last].command += "\n" + line.dropFirst(2)
            } else if let last = steps.indices.last {
                steps[last].expected.append(String(line))
            }
        }
        self.steps = steps.map { step in
            var step = step
            while step.expected.last?.isEmpty == true { step.expected.removeLast() }
            if let last = step.expected.last, last.hasPrefix("["), last.hasSuffix("]"),
                let code = CInt(last.dropFirst().dropLast())
            {
                step.exitCode = code
                step.expected.removeLast()
            }
            return step
        }
    }

    /// Runs the steps in order; returns a description of the first one with another result, nil when there is none.
    ///
    /// - Parameter environment: variables that the steps have besides those of the store.
    func run(_ daemon: TestDaemon, environment: [String] = []) throws -> String? {
        for step in steps {
            let script = """
                exec 2>&1; cd "$LATCHKEY_HOME" || exit 99
                LATCHKEY_APP_ID=latchkey; export LATCHKEY_APP_ID
                \(step.command)
                """
            let done = try daemon.script(script, environment: ["LATCHKEY_CHECKOUT=\(Self.checkout)"] + environment)
            var lines = done.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            while lines.last?.isEmpty == true { lines.removeLast() }
            guard done.exitCode == step.exitCode, Self.matches(step.expected[...], lines[...]) else {
                return """
                    line \(step.line): \(step.command)
                    expected [\(step.exitCode)]:
                    \(step.expected.joined(separator: "\n"))
                    got [\(done.exitCode)]:
                    \(lines.joined(separator: "\n"))
                    """
            }
        }
        return nil
    }

    private static func matches(_ expected: ArraySlice<String>, _ lines: ArraySlice<String>) -> Bool {
        guard let first = expected.first else { return lines.isEmpty }
        if first == "..." {
            return (lines.startIndex...lines.endIndex).contains { matches(expected.dropFirst(), lines[$0...]) }
        }
        guard let line = lines.first, matches(line: line, first) else { return false }
        return matches(expected.dropFirst(), lines.dropFirst())
    }

    private static func matches(line: String, _ pattern: String) -> Bool {
        let parts = pattern.split(separator: "<...>", omittingEmptySubsequences: false)
        guard parts.count > 1, let head = parts.first, let tail = parts.last else { return line == pattern }
        guard line.hasPrefix(head), line.count >= head.count + tail.count, line.hasSuffix(tail) else { return false }
        var rest = line.dropFirst(head.count).dropLast(tail.count)
        for part in parts.dropFirst().dropLast() {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }
}
