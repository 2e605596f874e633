// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import Glibc
import LatchkeyModel
import LatchkeySystem
import LatchkeyWords

/// The process of `latchkey fingerprint`, which `latchkey` becomes.
package enum FingerprintProcess {
    package static func main() -> Never {
        let arguments = ProgramStart.begin()
        // A program reads the output of --plain, and translates it itself.
        let words = arguments.contains("--plain") ? .plainEnglish : Words.installed(isolates: false, isTerminal: true)
        let texts = FingerprintTexts(words)
        if arguments.isEmpty || arguments == ["--help"] {
            write(texts.usage, .output)
            ProgramEnd.now(arguments.isEmpty ? 64 : 0)
        }
        do throws(Failure) {
            try run(arguments, words)
            ProgramEnd.now()
        } catch {
            write(texts.report(error), .error)
            ProgramEnd.now(status(of: error))
        }
    }

    /// As that of a command, but a reader that fails differs from a refusal (`FingerprintControl`).
    private static func status(of failure: Failure) -> CInt {
        switch failure.status {
        case .invalidParameter: 64
        case .biometryNotAvailable, .biometryDisconnected: 69
        default: failure.status.exitCode
        }
    }

    private static func run(_ arguments: [String], _ words: Words) throws(Failure) {
        let account = try Accounts.name(of: geteuid())
        let bus: SystemBus
        do throws(SystemError) { bus = try SystemBus() } catch {
            throw Failure(error, "The system's message bus cannot be used")
        }
        var surroundings = FingerprintCommand.Surroundings(
            bus: bus, account: account.text, userID: geteuid(), write: { write($0, .output) },
            ask: { question in
                if StandardStream.input.isTerminal { write(question, .output) }
                // Without an answer nothing is done.
                return (try? StandardStream.input.line()) ?? nil
            })
        surroundings.words = words
        surroundings.isTerminal = StandardStream.output.isTerminal
        try FingerprintCommand(surroundings).run(arguments)
    }

    private static func write(_ text: String, _ stream: StandardStream) {
        // Without a stream to say it on, the status of the program remains.
        try? stream.write(all: Array(text.utf8))
    }
}
