// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// log --daemon: the daemon's own log, read from its file without a daemon.
enum DaemonLogCommand {
    static func run(_ options: Options, newest count: UInt64) throws(CommandFailure) {
        let lines = try failing { () throws(Failure) in try DaemonLog.lines().suffix(Int(clamping: count)) }
        if options.isJSON { return Output.write(lines.map { $0.json.line + "\n" }.joined()) }
        guard !lines.isEmpty else { return Output.writeError(localized("The daemon's log is empty.") + "\n") }
        // The lines themselves are English in every language: administrators search them and send them in reports.
        let heading = [
            localized("TIME"), localized("PROCESS"), localized("SEVERITY"), localized("EVENT"), localized("REASON"),
        ]
        Output.write(Table.text([heading] + lines.map(\.cells)))
    }
}

extension DaemonLogLine {
    fileprivate var when: String { AuditLine.moment(time) }

    fileprivate var cells: [String] {
        [when, "\(processID)", severity, event, [message, hint].filter { !$0.isEmpty }.joined(separator: " ")]
    }

    fileprivate var json: JSON {
        .object([
            ("time", .text(when)), ("process", .number(Int64(processID))), ("severity", .text(severity)),
            ("event", .text(event)), ("status", status.isEmpty ? .null : .text(status)),
            ("message", message.isEmpty ? .null : .text(message)), ("hint", hint.isEmpty ? .null : .text(hint)),
            ("source", source.isEmpty ? .null : .text(source)),
        ])
    }
}
