// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// Why a command failed: wrong usage (message, hint), a failure of the work, a standard stream that cannot be read or
/// written, or a command that cannot be executed.
enum CommandFailure: Error {
    case usage(Phrase, Phrase)
    case failure(Failure)
    case stream(StandardStream, SystemError)
    /// A command that `latchkey run` cannot execute, with the exit code that a shell has for that.
    case execution(Failure, exitCode: CInt)

    /// Exit codes of sysexits(3), and 130 after Ctrl-C as in a shell, so that scripts can distinguish the cases.
    var exitCode: CInt {
        switch self {
        case .usage: 64
        case .stream: 74
        case .failure(let failure): failure.status.exitCode
        case .execution(_, let exitCode): exitCode
        }
    }

    /// A line of a report; several on a terminal that is narrower.
    private static func line(_ head: String, _ text: Phrase) -> String {
        // It may have a name of an item or a group, which must not begin a line of its own.
        (head + " " + localized(text).withoutControls).wrapped(for: .error) + "\n"
    }

    private static func texts(_ failure: Failure) -> (message: Phrase, hint: Phrase) { (failure.text, failure.advice) }

    /// Writes on standard error what happened and what to do.
    func report() {
        let (message, hint): (Phrase, Phrase) =
            switch self {
            case .usage(let message, let hint): (message, hint)
            case .failure(let failure), .execution(let failure, _): Self.texts(failure)
            case .stream(.input, let error): Self.texts(Failure(error, "Standard input cannot be read"))
            case .stream(_, let error): Self.texts(Failure(error, "Standard output cannot be written"))
            }
        let isColoured = StandardStream.error.isTerminal && Environment.value("NO_COLOR") == nil
        let error = localized("error:")
        let text = Self.line(error, message)
        if isColoured { Output.control(.boldRed) }
        Output.writeError(error)
        if isColoured { Output.control(.plain) }
        Output.writeError(text.dropFirst(error.count) + (hint.isEmpty ? "" : Self.line(localized("hint:"), hint)))
    }
}

/// Runs a body that throws `Failure`, as part of one that throws `CommandFailure`.
func failing<R>(_ body: () throws(Failure) -> R) throws(CommandFailure) -> R {
    do throws(Failure) { return try body() } catch { throw .failure(error) }
}

/// A sequence that controls a terminal; only this command's own ones exist.
struct TerminalSequence {
    fileprivate let bytes: [UInt8]

    private init(_ text: String) { bytes = Array(text.utf8) }

    /// Moves the cursor to the beginning of the line.
    static let start = TerminalSequence("\r")
    /// Clears the line and moves the cursor to its beginning.
    static let clearLine = TerminalSequence("\r\u{1b}[K")
    static let plain = TerminalSequence("\u{1b}[0m")
    static let dim = TerminalSequence("\u{1b}[2m")
    static let boldRed = TerminalSequence("\u{1b}[1;31m")
    static let green = TerminalSequence("\u{1b}[32m")
}

/// Writes to the two standard streams, completely and without a buffer that would hold a secret.
///
/// Every text of the command goes through `write` or `writeError`. They replace the characters that control a terminal or
/// turn text, so that a name of an app does neither, wherever it is shown. Names in sentences are without line feeds
/// before (`withoutControls`).
enum Output {
    static func write(_ text: String) { write(Array(text.linesWithoutControls.utf8), to: .output) }
    static func writeError(_ text: some StringProtocol) { writeError(String(text)) }
    static func writeError(_ text: String) { write(Array(text.linesWithoutControls.utf8), to: .error) }

    /// Writes a line of a command that goes on running: to standard error or, when its reader has ended, as that of a
    /// detached agent has, to the log of the system (syslog(3)).
    static func log(_ line: String) {
        let text = line.withoutControls
        do throws(SystemError) {
            try StandardStream.error.write(all: Array((text + "\n").utf8))
        } catch {
            text.withCString { text in withVaList([OpaquePointer(text)]) { vsyslog(LOG_AUTH | LOG_WARNING, "%s", $0) } }
        }
    }

    /// Says on a terminal what a command has done whose success has no other output. A script sees the exit code.
    static func writeDone(_ sentence: String) {
        guard StandardStream.error.isTerminal else { return }
        writeError(sentence.wrapped(for: .error) + "\n")
    }

    /// Says what a command has deleted: as JSON, or as `writeDone` does.
    static func writeDeleted(_ name: String, _ sentence: String, _ options: Options) {
        guard options.isJSON else { return writeDone(sentence) }
        write(JSON.object([("deleted", .text(name))]).line + "\n")
    }

    static func control(_ sequence: TerminalSequence, to stream: StandardStream = .error) {
        write(sequence.bytes, to: stream)
    }

    private static func write(_ bytes: [UInt8], to stream: StandardStream) {
        bytes.withUnsafeBytes { write($0, to: stream) }
    }

    static func writeError(_ secret: SecretBytes) { secret.withBytes { write($0, to: .error) } }

    static func write(_ secret: SecretBytes) { secret.withBytes { write($0, to: .output) } }

    private static func write(_ bytes: UnsafeRawBufferPointer, to stream: StandardStream) {
        do throws(SystemError) {
            try stream.write(all: bytes)
        } catch {
            // The status of the command says what cannot be said on standard error. A reader of the output that has seen
            // enough, such as head(1), is no error either.
            guard stream != .error, error.code != EPIPE else { return }
            let failure = CommandFailure.stream(stream, error)
            failure.report()
            ProgramEnd.now(failure.exitCode)
        }
    }
}
