// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import LatchkeyTransport

/// Writes a failure to standard error. Failures never contain secrets.
func log(_ failure: Failure) {
    let hint = failure.hint.isEmpty ? "" : "\nhint: \(failure.hint)"
    let text = Array("error: \(failure.message)\(hint)\n".utf8)
    _ = write(STDERR_FILENO, text, text.count)
}

/// The daemon's log: a file in the store's folder, and the journal when standard error is connected to it.
final class FileAndJournalLog: EventLog {
    private let file: DaemonLogFile
    private let isJournal = FileAndJournalLog.isJournalOnStandardError

    init(_ folder: String) { file = DaemonLogFile(folder) }

    func note(_ event: DaemonEvent, _ failure: Failure?) {
        let line = DaemonLogLine(event, failure, time: wallTimeMicroseconds(), processID: getpid())
        if isJournal { journal(line, event.severity) }
        do throws(SystemError) {
            try file.append(line)
        } catch {
            // The disk may be full or the folder removed: standard error remains.
            if !isJournal { log(failure ?? Failure(error, "The daemon's log cannot be written")) }
        }
    }

    private func journal(_ line: DaemonLogLine, _ severity: DaemonEvent.Severity) {
        let words = [line.event, line.message, line.hint].filter { !$0.isEmpty }.joined(separator: ": ")
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
