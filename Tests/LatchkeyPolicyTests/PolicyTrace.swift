// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyPolicy

/// A recorded sequence of events and effects of the reducer, as text: each line is an event with its time on the
/// boot-time clock, and the indented lines after it are its effects. Lines that begin with `#` are comments.
/// `TraceWords` defines the syntax.
///
/// A trace begins with a machine without sensor and passcode.
struct PolicyTrace {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(components: "Vectors", "policy-traces")
    /// The file names of the committed traces.
    static let names: [String] = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".trace") }.sorted()

    private static let indentation = "    "

    /// A line of the trace and the effects below it.
    struct Step {
        var number: Int
        var line: String
        var effects: [String] = []
        var isEvent: Bool { !line.hasPrefix("#") && !line.isEmpty }
    }

    let name: String
    private(set) var steps: [Step] = []

    init(name: String) throws {
        try self.init(name: name, text: String(contentsOf: Self.folder.appending(component: name), encoding: .utf8))
    }

    init(name: String, text: String) throws {
        self.name = name
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for (index, line) in lines.enumerated() {
            if line.hasPrefix(Self.indentation) {
                guard steps.last?.isEvent == true else { throw TraceError("\(name):\(index + 1): effects of no event") }
                steps[steps.count - 1].effects.append(String(line.dropFirst(Self.indentation.count)))
            } else {
                steps.append(Step(number: index + 1, line: line))
            }
        }
    }

    /// Returns the same events with the current effects of the reducer.
    func replayed() throws -> PolicyTrace {
        var replayed = self
        var state = PolicyState()
        for index in steps.indices where steps[index].isEvent {
            let (time, event) = try TraceWords.event(steps[index].line)
            replayed.steps[index].effects = state.reduce(event, at: time).map(TraceWords.text)
        }
        return replayed
    }

    /// Returns a description of each event whose effects differ from those in `expected`.
    func differences(from expected: PolicyTrace) -> [String] {
        zip(expected.steps, steps).filter { $0.effects != $1.effects }.map { old, new in
            let changes = new.effects.difference(from: old.effects)
            let lines =
                changes.removals.map { change in if case .remove(_, let text, _) = change { "- \(text)" } else { "" } }
                + changes.insertions.map { change in
                    if case .insert(_, let text, _) = change { "+ \(text)" } else { "" }
                }
            return (["\(name):\(old.number): \(old.line)"] + lines).joined(separator: "\n    ")
        }
    }

    func write() throws {
        let lines = steps.flatMap { step in [step.line] + step.effects.map { Self.indentation + $0 } }
        try Data(lines.joined(separator: "\n").utf8).write(to: Self.folder.appending(component: name))
    }
}

/// A malformed line of a trace.
struct TraceError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
