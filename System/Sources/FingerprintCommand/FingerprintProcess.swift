// SPDX-License-Identifier: Apache-2.0

import Glibc
import InstalledWords
import LatchkeyModel
import LatchkeySystem
import LatchkeyWords
import SystemBus

/// The process of `latchkey fingerprint`, which `latchkey` becomes.
package enum FingerprintProcess {
    /// Runs the command line of this process.
    package static func main() -> Never {
        let arguments = Array(CommandLine.arguments.dropFirst())
        // A program reads the output of --plain, and translates it itself.
        let words = arguments.contains("--plain") ? .plainEnglish : Words.installed(isolates: false, isTerminal: true)
        let texts = FingerprintTexts(words)
        if arguments.isEmpty || arguments == ["--help"] {
            write(texts.usage, STDOUT_FILENO)
            exit(arguments.isEmpty ? 64 : 0)
        }
        do throws(Failure) {
            try run(arguments, words)
            exit(0)
        } catch {
            write(texts.report(error), STDERR_FILENO)
            exit(exitCode(error.status))
        }
    }

    private static func run(_ arguments: [String], _ words: Words) throws(Failure) {
        let account = try Accounts.name(of: geteuid())
        let bus: SystemBus
        do throws(SystemError) { bus = try SystemBus() } catch {
            throw Failure(error, "The system's message bus cannot be used")
        }
        var surroundings = FingerprintCommand.Surroundings(
            bus: bus, account: account.text, userID: geteuid(), write: { write($0, STDOUT_FILENO) },
            ask: { question in
                if isatty(STDIN_FILENO) == 1 { write(question, STDOUT_FILENO) }
                return readLine()
            })
        surroundings.words = words
        surroundings.isTerminal = isatty(STDOUT_FILENO) == 1
        try FingerprintCommand(surroundings).run(arguments)
    }

    private static func write(_ text: String, _ number: CInt) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(number, bytes, bytes.count)
    }

    /// The exit codes of `latchkey` (sysexits(3)).
    private static func exitCode(_ status: Status) -> CInt {
        switch status {
        case .invalidParameter: 64
        case .itemNotFound: 66
        case .peerNotTrusted, .timedOut: 69
        case .duplicateItem: 73
        case .authenticationFailed, .userCancel, .notPermitted, .biometryNotAvailable, .biometryNotEnrolled,
            .biometryDisconnected:
            77
        default: 1
        }
    }
}
