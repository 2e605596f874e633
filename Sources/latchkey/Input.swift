// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// Secrets come from standard input or from a prompt that shows nothing; never from arguments, which every process
/// of the machine can read.
enum Input {
    /// Reads a secret: everything from a pipe or a file, exactly as it is, or one hidden line from the terminal.
    static func secret(_ question: String) throws(CommandFailure) -> SecretBytes {
        if isatty(STDIN_FILENO) == 1 { return try hiddenLine(question, capacity: 4096) }
        return try everything(limit: Limits.secretBytes)
    }

    /// Reads passcodes: one line each from a pipe, or hidden lines from the terminal; a new one is asked twice there.
    static func passcodes(_ questions: [String], repeatsLast: Bool) throws(CommandFailure) -> [SecretBytes] {
        guard isatty(STDIN_FILENO) == 1 else {
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
            let again = try hiddenLine("The same again: ", capacity: Limits.passcodeBytes)
            guard answers.last == again else { throw .usage("the two are not the same", "Nothing was changed.") }
        }
        return answers
    }

    private static func hiddenLine(_ question: String, capacity: Int) throws(CommandFailure) -> SecretBytes {
        guard let tty = try? Descriptor.open("/dev/tty", O_RDWR | O_NOCTTY),
            let line = Terminal(tty).readHiddenLine(question, capacity: capacity)
        else { throw .failure(Failure(.userCancel, "Nothing was entered.")) }
        return line
    }

    private static func everything(limit: Int) throws(CommandFailure) -> SecretBytes {
        var typed = TypedSecret(capacity: limit + 1)
        var count = 0
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        defer { wipe(&buffer) }
        while true {
            let step = read(STDIN_FILENO, &buffer, buffer.count)
            if step < 0, errno == EINTR { continue }
            guard step > 0 else { break }
            count += step
            guard count <= limit else {
                throw .failure(
                    Failure(.dataTooLarge, "Standard input has more than \(limit) bytes.", hint: "Give less."))
            }
            for byte in buffer[..<step] { typed.append(byte) }
        }
        return typed.take()
    }
}
