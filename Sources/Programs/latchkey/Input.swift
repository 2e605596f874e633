// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// Reads secrets from standard input or from a hidden line on the terminal; never from arguments, which every process
/// of the machine can read.
enum Input {
    /// Reads a secret: all bytes of a pipe or a file unchanged, or one hidden line from the terminal, typed twice.
    static func secret(_ question: String) throws(CommandFailure) -> SecretBytes {
        guard StandardStream.input.isTerminal else { return try everything(limit: Limits.secretBytes) }
        let line = try hiddenLine(question, capacity: 4096)
        guard try hiddenLine(again, capacity: 4096) == line else {
            throw .usage("the two secrets differ", "Nothing was stored.")
        }
        return line
    }

    private static let again = localized("The same again: ")

    /// Reads passcodes: one line each from a pipe, or hidden lines from the terminal, where `repeatsLast` asks for the
    /// last one twice.
    static func passcodes(_ questions: [String], repeatsLast: Bool) throws(CommandFailure) -> [SecretBytes] {
        guard StandardStream.input.isTerminal else {
            let lines = try everything(limit: 4 * Limits.passcodeBytes).withBytes { bytes in
                bytes.split(separator: 0x0a, omittingEmptySubsequences: false).map { SecretBytes($0) }
            }
            guard lines.count >= questions.count else {
                throw .usage("standard input has too few lines", "Give one passcode a line.")
            }
            return Array(lines[..<questions.count])
        }
        var answers: [SecretBytes] = []
        for question in questions { answers.append(try hiddenLine(question, capacity: Limits.passcodeBytes)) }
        if repeatsLast {
            let again = try hiddenLine(again, capacity: Limits.passcodeBytes)
            guard answers.last == again else { throw .usage("the two passcodes differ", "Nothing was changed.") }
        }
        return answers
    }

    /// Reads one hidden line from the terminal.
    static func hiddenLine(_ question: String, capacity: Int) throws(CommandFailure) -> SecretBytes {
        guard let tty = try? Descriptor.open("/dev/tty", O_RDWR | O_NOCTTY) else {
            throw .failure(Failure(.notInteractive, "The terminal cannot be opened.", hint: "Use standard input."))
        }
        let line: SecretBytes
        // One byte more than the limit, so that a longer line is reported and never cut.
        switch Terminal(tty).readHiddenLine(question, capacity: capacity + 1) {
        case .line(let typed): line = typed
        case .cancelled: throw .failure(Failure(.userCancel, "Nothing was entered."))
        case .interrupted: throw .failure(Failure(.interrupted, "Nothing was entered."))
        }
        guard line.count <= capacity else {
            throw .usage("the line has more than \(capacity) bytes", "Pass longer secrets on standard input.")
        }
        return line
    }

    private static func everything(limit: Int) throws(CommandFailure) -> SecretBytes { try whole(nil, limit: limit) }

    /// Reads a file to its end; standard input if `path` is nil.
    static func whole(_ path: FilePath?, limit: Int) throws(CommandFailure) -> SecretBytes {
        var pieces: [SecretBytes] = []
        var count = 0
        try forEachPiece(path) { (bytes) throws(Failure) in
            count += bytes.count
            guard count <= limit else {
                throw Failure(
                    .dataTooLarge,
                    path == nil
                        ? "Standard input has more than \(limit) bytes."
                        : "\(path?.description ?? "") has more than \(limit) bytes.", hint: "Use a shorter input.")
            }
            pieces.append(SecretBytes(copying: bytes))
        }
        return SecretBytes(joining: pieces)
    }

    /// Passes a file, or standard input if `path` is nil, to `body` in pieces, which are wiped afterwards.
    static func forEachPiece(
        _ path: FilePath?, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(CommandFailure) {
        let file = try path.map { (path) throws(CommandFailure) in try open(path) }
        var isAtEnd = false
        while !isAtEnd {
            var count = 0
            let buffer = try SecretBytes(count: 64 << 10) { (memory) throws(CommandFailure) in
                count = try read(file, path, into: memory)
            }
            isAtEnd = count == 0
            try failing { () throws(Failure) in
                try buffer.withBytes { (bytes) throws(Failure) in
                    try body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                }
            }
        }
    }

    private static func read(
        _ file: Descriptor?, _ path: FilePath?, into memory: UnsafeMutableRawBufferPointer
    ) throws(CommandFailure) -> Int {
        do throws(SystemError) {
            if let file { return try file.read(into: memory) }
            return try StandardStream.input.read(into: memory)
        } catch {
            throw path.map { .failure(Failure(error, "\($0) cannot be read")) } ?? .stream(.input, error)
        }
    }

    private static func open(_ path: FilePath) throws(CommandFailure) -> Descriptor {
        do throws(SystemError) {
            return try Descriptor.open(path, O_RDONLY)
        } catch {
            throw .failure(
                error.code == ENOENT
                    ? Failure(.itemNotFound, "There is no file \(path).") : Failure(error, "\(path) cannot be read"))
        }
    }
}
