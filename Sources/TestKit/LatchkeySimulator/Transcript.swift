// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The events of a simulated machine: the prompts and their changes, the actions of the user, and the results.
///
/// Each event is one line, which begins with the time of the machine's clock in seconds. Equal scripts give equal
/// transcripts. A transcript contains no passcode and no secret, so it can be committed with a test:
///
///     #expect(try simulator.transcript == Transcript(contentsOf: golden))
public struct Transcript: Equatable, Sendable, CustomStringConvertible {
    /// The lines, oldest first; only the newest 1,024 are retained.
    public let lines: [String]

    init(lines: [String]) { self.lines = lines }

    /// Creates a transcript from text, such as a literal in a test.
    ///
    /// - Parameter text: the lines, separated by line feeds; empty lines are ignored.
    public init(_ text: String) { lines = text.split(separator: "\n").map(String.init) }

    /// Reads a transcript from a file.
    ///
    /// Blocks while it reads.
    ///
    /// - Parameter file: a UTF-8 text file that `write(to:)` wrote.
    /// - Throws: an error of Foundation when the file cannot be read.
    public init(contentsOf file: URL) throws { self.init(try String(contentsOf: file, encoding: .utf8)) }

    /// Writes the transcript to a file as UTF-8 text.
    ///
    /// Blocks while it writes.
    ///
    /// - Parameter file: the file to create or replace.
    /// - Throws: an error of Foundation when the file cannot be written.
    public func write(to file: URL) throws {
        try (description + "\n").write(to: file, atomically: true, encoding: .utf8)
    }

    /// The lines, joined by line feeds.
    public var description: String { lines.joined(separator: "\n") }
}
