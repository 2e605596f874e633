// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What happened on a simulated machine: prompts as they changed, what the person did, how each evaluation ended.
///
/// One line for each, with the seconds of the machine's clock in front; the same script gives the same transcript. It
/// never holds a passcode or a secret, so it may be committed beside a test:
///
///     #expect(try simulator.transcript == Transcript(contentsOf: golden))
public struct Transcript: Equatable, Sendable, CustomStringConvertible {
    /// The lines, oldest first; at most the newest 1,024 are kept.
    public let lines: [String]

    init(lines: [String]) { self.lines = lines }

    /// Takes a transcript from text, such as a literal in a test.
    public init(_ text: String) { lines = text.split(separator: "\n").map(String.init) }

    /// Reads a transcript that was written before.
    public init(contentsOf file: URL) throws { self.init(try String(contentsOf: file, encoding: .utf8)) }

    /// Writes the transcript as UTF-8 text.
    public func write(to file: URL) throws {
        try (description + "\n").write(to: file, atomically: true, encoding: .utf8)
    }

    /// The lines as text.
    public var description: String { lines.joined(separator: "\n") }
}
