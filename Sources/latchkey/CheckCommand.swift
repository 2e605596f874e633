// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel

/// check: whether everything in the store is what was put there.
enum CheckCommand {
    static func run(_ options: Options) throws(CommandFailure) {
        if options.has(.accept) { return try WaysOut.accept(options) }
        if options.has(.restore) { return try restore(options) }
        let (last, findings) = try answer(.check, options)
        let faults = findings.filter(\.isFault).count
        if options.isJSON {
            let pairs: [(String, JSON)] = [
                ("whole", .boolean(faults == 0)), ("checked", .number(Int64(clamping: last.done))),
                ("findings", .array(findings.map(\.json))),
            ]
            Output.write(JSON.object(pairs).line + "\n")
        } else {
            show(findings)
            if faults == 0 { Output.write("The store is whole: \(last.done) rows and entries were checked.\n") }
        }
        if faults > 0 {
            throw .failure(
                Failure(
                    .storeUnreadable, faults == 1 ? "One thing is wrong." : "\(faults) things are wrong.",
                    hint: "Nothing was changed. Keep a copy of the store's folder before you do anything."))
        }
    }

    /// Brings back what was put aside and is whole again.
    private static func restore(_ options: Options) throws(CommandFailure) {
        let (last, findings) = try answer(.restoreRows, options)
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
                last.done == 0 ? "Nothing was put aside.\n" : "\(restored) of \(last.done) items are back.\n")
        }
    }

    /// All parts of an answer.
    private static func answer(
        _ request: Request, _ options: Options
    ) throws(CommandFailure) -> (last: CheckReport, findings: [Finding]) {
        var findings: [Finding] = []
        let showsProgress = isatty(STDERR_FILENO) == 1 && !options.isJSON
        let last: CheckReport
        do throws(Failure) {
            let reply = try Client.command.call(request) { part in
                guard case .check(let report) = part else { return }
                findings += report.findings
                if showsProgress { Output.writeError("\r\u{1b}[K\(report.done) of \(report.total)") }
            }
            guard case .check(let report) = reply else {
                throw Failure(.internalFailure, "The daemon's answer is of another kind.")
            }
            last = report
            if showsProgress { Output.writeError("\r\u{1b}[K") }
        } catch {
            if showsProgress { Output.writeError("\r\u{1b}[K") }
            throw .failure(error)
        }
        return (last, findings + last.findings)
    }

    /// Every finding, and each advice once behind the last finding it is for.
    private static func show(_ findings: [Finding]) {
        for (index, finding) in findings.enumerated() {
            Output.write(Table.text([[finding.sentence]]))
            let isLast = index + 1 == findings.count || findings[index + 1].hint != finding.hint
            if isLast { Output.write("  " + finding.hint + "\n") }
        }
    }
}
