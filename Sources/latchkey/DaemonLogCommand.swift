// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// log --daemon: the daemon's own log, read from its file without a daemon.
enum DaemonLogCommand {
    static func run(_ options: Options, newest count: UInt64) throws(CommandFailure) {
        let lines: ArraySlice<DaemonLogLine>
        do throws(Failure) {
            lines = try DaemonLog.lines().suffix(Int(clamping: count))
        } catch {
            throw .failure(error)
        }
        if options.isJSON { return Output.write(lines.map { $0.json.line + "\n" }.joined()) }
        guard !lines.isEmpty else { return Output.writeError("The daemon's log is empty.\n") }
        Output.write(Table.text([["TIME", "PROCESS", "SEVERITY", "EVENT", "REASON"]] + lines.map(\.cells)))
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
