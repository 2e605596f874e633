// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import LatchkeyPrompts

/// log: shows or verifies the audit log.
enum LogCommand {
    static func run(_ options: Options) throws(CommandFailure) {
        guard !options.has(.verify) || options[.limit] == nil else {
            throw .usage("--verify needs the whole audit log, and --limit shows its end", "Choose one.")
        }
        guard !options.has(.verify) || !options.has(.daemon) else {
            throw .usage("--verify is for the audit log, and --daemon shows another log", "Choose one.")
        }
        if options.has(.verify) { return try verify(options) }
        var count: UInt64 = .max
        if let limit = options[.limit] {
            guard let number = UInt64(limit) else {
                throw .usage("--limit takes a number, not \(limit)", "See: latchkey help log")
            }
            count = number
        }
        if options.has(.daemon) { return try DaemonLogCommand.run(options, newest: count) }
        try failing { () throws(Failure) in try show(newest: count, options) }
    }

    private static func page(
        after: Int64, verifies: Bool, limit: UInt64 = Limits.auditEntries
    ) throws(Failure) -> AuditPage {
        try Client.command.call(Request.Log(after: after, limit: limit, verifies: verifies))
    }

    /// Reads part by part, so that a long audit log is never in memory as a whole.
    private static func show(newest count: UInt64, _ options: Options) throws(Failure) {
        let end = try page(after: 0, verifies: false, limit: 0).last
        let names = ItemNames()
        var after = count >= UInt64(clamping: end) ? 0 : end - Int64(clamping: count)
        if !options.isJSON, count > 0, end > 0 { Output.write(Table.text([heading], widths: widths)) }
        // Entries written meanwhile are left out.
        while after < end {
            let lines = try page(after: after, verifies: false).lines.filter { $0.sequence <= end }
            guard let last = lines.last else { break }
            after = last.sequence
            Output.write(
                options.isJSON
                    ? lines.map { $0.json(names).line + "\n" }.joined()
                    : Table.text(lines.map { $0.cells(names) }, widths: widths))
        }
        if !options.isJSON, end == 0 { Output.writeError(localized("The audit log is empty.") + "\n") }
    }

    private static let heading = [
        localized("ENTRY"), localized("TIME"), localized("EVENT"), localized("ITEM"), localized("CALLER"),
        localized("PROCESS"), localized("HOW"),
    ]
    /// Minimum widths, so that all parts have the same columns: at least those of the headings and of the events.
    private static let widths: [Int] = {
        var widths = zip([7, 20, 18, 24, 16, 7, 0], heading).map { max($0, CellWidth.of($1)) }
        widths[2] = AuditEvent.allCases.reduce(widths[2]) { max($0, CellWidth.of($1.text(localized))) }
        return widths
    }()

    private static func verify(_ options: Options) throws(CommandFailure) {
        var count: Int64 = 0
        var after: Int64 = 0
        var newest: AuditLine?
        var finding: Finding?
        try failing { () throws(Failure) in
            while true {
                let page = try page(after: after, verifies: true)
                finding = page.finding
                count += Int64(page.lines.count)
                newest = page.lines.last ?? newest
                guard finding == nil, let last = page.lines.last?.sequence, last < page.last else { break }
                after = last
            }
        }
        if options.isJSON {
            var pairs: [(String, JSON)] = [("whole", .boolean(finding == nil)), ("entries", .number(count))]
            pairs.append(("newest", newest.map { $0.json(nil) } ?? .null))
            pairs.append(("finding", finding.map(\.json) ?? .null))
            Output.write(JSON.object(pairs).line + "\n")
        }
        if let finding {
            throw .failure(
                Failure(.storeUnreadable, "\(finding.sentence(localized))", hint: "\(finding.hint(localized))"))
        }
        guard !options.isJSON else { return }
        guard let newest else { return Output.write(localized("The audit log is complete: it has no entries.") + "\n") }
        Output.write(localized("The audit log is complete: \(count) entries, the last of \(newest.when).") + "\n")
    }
}

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
        [
            when, "\(processID)", severity, event,
            [message, hint].filter { !$0.isEmpty }.map(\.description).joined(separator: " "),
        ]
    }

    fileprivate var json: JSON {
        .object([
            ("time", .text(when)), ("process", .number(Int64(processID))), ("severity", .text(severity)),
            ("event", .text(event)), ("status", status.isEmpty ? .null : .text(status)),
            ("message", message.isEmpty ? .null : .text(message.description)),
            ("hint", hint.isEmpty ? .null : .text(hint.description)),
            ("source", source.isEmpty ? .null : .text(source)),
        ])
    }
}
