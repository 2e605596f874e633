// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem

/// check: verifies that every row and record of the store is as it was stored.
enum CheckCommand {
    static func run(_ options: Options) throws(CommandFailure) {
        guard !options.has(.accept) || !options.has(.restore) else {
            throw .usage("--accept and --restore cannot be used together", "Choose one.")
        }
        if options.has(.accept) { return try WaysOut.accept(options) }
        if options.has(.restore) { return try restore(options) }
        let (last, findings) = try answer(Request.Check(), options)
        let faults = findings.filter(\.isFault).count
        if options.isJSON {
            let pairs: [(String, JSON)] = [
                ("whole", .boolean(faults == 0)), ("checked", .number(Int64(clamping: last.done))),
                ("findings", .array(findings.map(\.json))),
            ]
            Output.write(JSON.object(pairs).line + "\n")
        } else {
            show(findings)
            if faults == 0 {
                Output.write(localized("No problem found: \(last.done) rows and entries were checked.") + "\n")
            }
        }
        if faults > 0 {
            throw .failure(
                Failure(
                    .storeUnreadable, "\(localized.count(faults, "One problem found.", "\(faults) problems found."))",
                    hint: "Nothing was changed. Keep a copy of the store's folder before you do anything."))
        }
    }

    /// Whether a check finds nothing wrong with the store.
    static func isWhole(_ options: Options) throws(CommandFailure) -> Bool {
        try !answer(Request.Check(), options).findings.contains(where: \.isFault)
    }

    /// Restores the quarantined rows that authenticate again.
    private static func restore(_ options: Options) throws(CommandFailure) {
        let (last, findings) = try answer(Request.RestoreRows(), options)
        let restored = findings.filter { $0.kind == .restored }.count
        if options.isJSON {
            let pairs: [(String, JSON)] = [
                ("aside", .number(Int64(clamping: last.done))), ("restored", .number(Int64(restored))),
                ("findings", .array(findings.map(\.json))),
            ]
            Output.write(JSON.object(pairs).line + "\n")
        } else {
            show(findings)
            Output.write(
                (last.done == 0
                    ? localized("No item is quarantined.") : localized("\(restored) of \(last.done) items restored."))
                    + "\n")
        }
    }

    /// Sends the request and collects the findings of all pages of its reply.
    private static func answer<Call: DaemonRequest>(
        _ request: Call, _ options: Options
    ) throws(CommandFailure) -> (last: CheckReport, findings: [Finding]) where Call.Response == CheckReport {
        var findings: [Finding] = []
        let showsProgress = StandardStream.error.isTerminal && !options.isJSON
        let last: CheckReport
        do throws(Failure) {
            last = try Client.command.call(request) { report in
                findings += report.findings
                if showsProgress {
                    Output.control(.clearLine)
                    Output.writeError(localized("\(report.done) of \(report.total)"))
                }
            }
            if showsProgress { Output.control(.clearLine) }
        } catch {
            if showsProgress { Output.control(.clearLine) }
            throw .failure(error)
        }
        return (last, findings + last.findings)
    }

    /// Writes every finding; a hint that consecutive findings share follows the last of them.
    private static func show(_ findings: [Finding]) {
        for (index, finding) in findings.enumerated() {
            Output.write(Table.text([[finding.sentence(localized)]]))
            let isLast = index + 1 == findings.count || findings[index + 1].hint(localized) != finding.hint(localized)
            if isLast { Output.write("  " + finding.hint(localized) + "\n") }
        }
    }
}
