// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel

/// The standard error of a daemon.
package enum StandardError {
    /// Writes a failure. Failures never contain secrets. Never waits, since a daemon serves meanwhile.
    package static func write(_ failure: Failure) {
        let hint = failure.advice.isEmpty ? "" : "\nhint: \(failure.advice)"
        let text = Array("error: \(failure.text)\(hint)\n".utf8)
        // What is lost here is in the log or in the status of the program.
        _ = Glibc.write(STDERR_FILENO, text, text.count)
    }
}

/// The standard output of a daemon, for `--help` and `--version`.
package enum StandardOutput {
    /// Writes a text; ends the program with status 74 if that fails.
    package static func write(_ text: String) {
        do throws(SystemError) {
            try StandardStream.output.write(all: Array(text.utf8))
        } catch {
            // A reader that has seen enough is no error.
            guard error.code != EPIPE else { return }
            StandardError.write(Failure(error, "Standard output cannot be written"))
            ProgramEnd.now(74)
        }
    }
}

/// The daemon's log: a file in the store's folder, and the journal when standard error is connected to it.
package final class FileAndJournalLog: EventLog {
    private let file: DaemonLogFile
    private let isJournal = FileAndJournalLog.isJournalOnStandardError

    /// Creates the log of a daemon whose files are in `folder`.
    package init(_ folder: String) { file = DaemonLogFile(folder) }

    package func record(_ event: DaemonEvent, _ failure: Failure?) {
        let line = DaemonLogLine(event, failure, time: wallTimeMicroseconds(), processID: getpid())
        if isJournal { journal(line, event.severity) }
        do throws(SystemError) {
            try file.append(line)
        } catch {
            // The disk may be full or the folder removed: standard error remains.
            if !isJournal { StandardError.write(failure ?? Failure(error, "The daemon's log cannot be written")) }
        }
    }

    private func journal(_ line: DaemonLogLine, _ severity: DaemonEvent.Severity) {
        let words = [line.event, "\(line.message)", "\(line.hint)"].filter { !$0.isEmpty }.joined(separator: ": ")
        // The number in angle brackets is the priority (sd-daemon(3)).
        let text = Array("<\(severity.rawValue)>\(words)\n".utf8)
        _ = write(STDERR_FILENO, text, text.count)
    }

    /// Whether standard error is the stream that the service manager connected to the journal (systemd.exec(5),
    /// `JOURNAL_STREAM`: device and inode), and was not redirected since.
    private static var isJournalOnStandardError: Bool {
        guard let stream = Environment.value("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }
}
