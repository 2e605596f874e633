// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyDesktop
import LatchkeyModel
import LatchkeySystem
import SystemDriver
import TPMDriver

/// doctor: shows what this machine has and lacks, and the next step for each gap.
enum DoctorCommand {
    static func run(_ options: Options) throws(CommandFailure) {
        // Without the program no row names a finger.
        let fingerprints = try? FingerprintProgram.find()
        let rows = Doctor.rows(fingerprints: fingerprints)
        guard !options.has(.report) else {
            return report(MachineReport(fingerprints: fingerprints, rows: rows, chip: chip()), options)
        }
        let gaps = rows.filter { $0.state == .attention }
        if options.isJSON {
            let pairs: [(String, JSON)] = [("ok", .boolean(gaps.isEmpty)), ("rows", .array(rows.map(\.json)))]
            Output.write(JSON.object(pairs).line + "\n")
        } else {
            let isColoured = StandardStream.output.isTerminal && Environment.value("NO_COLOR") == nil
            write(text(rows), isColoured: isColoured)
        }
        guard gaps.isEmpty else {
            let names = gaps.map { localized($0.title) }.joined(separator: ", ")
            let lines = localized.count(gaps.count, "One line needs attention", "\(gaps.count) lines need attention")
            throw .failure(
                Failure(.internalFailure, "\(lines): \(names).", hint: "Run the commands beside them."))
        }
    }

    private static func report(_ report: MachineReport, _ options: Options) {
        guard options.isJSON else { return Output.write(report.text) }
        let lines = report.lines.map { line in
            JSON.object([("name", .text(line.name)), ("values", .array(line.values.map { .text($0) }))])
        }
        Output.write(JSON.array(lines).line + "\n")
    }

    /// What the TPM says about itself, and the times of ten commands; or why it cannot be asked.
    private static func chip() -> [String] {
        guard Files.exists(TPMPlace.device) else { return ["none"] }
        do throws(Failure) {
            let found = try TPMExamination(TPMPlace(), random: SystemRandomSource(), now: { Uptime.nanoseconds })
            let (identity, timings) = (found.identity, found.timings)
            return ["\(identity.manufacturer) \(identity.vendor), firmware \(identity.firmware)"]
                + timings.map {
                    "\($0.command): \($0.microseconds.map(String.init).joined(separator: ", ")) microseconds"
                }
        } catch {
            return [error.message.description]
        }
    }

    /// One line for each row, and one for its command.
    static func text(_ rows: [DoctorRow]) -> String {
        let lines = rows.flatMap { row -> [[String]] in
            let line = [row.state.shown, localized(row.title), localized(row.found)]
            return [line]
                + (row.hint.map {
                    [["", "", ($0.needsRoot ? localized("run as root:") : localized("run:")) + " " + $0.command]]
                } ?? [])
        }
        return Table.text(lines)
    }

    /// Writes the lines, the state of each one perhaps in its colour.
    private static func write(_ text: String, isColoured: Bool) {
        guard isColoured else { return Output.write(text) }
        for line in text.split(separator: "\n") {
            let state = [DoctorRow.State.ok, .attention, .absent].first { line.hasPrefix($0.shown) }
            if let state {
                Output.control(state.colour, to: .output)
                Output.write(state.shown)
                Output.control(.plain, to: .output)
            }
            Output.write(line.dropFirst(state?.shown.count ?? 0) + "\n")
        }
    }
}

extension DoctorRow.State {
    fileprivate var shown: String {
        switch self {
        case .ok: localized("ok")
        case .attention: localized("attention")
        case .absent: localized("absent")
        }
    }

    fileprivate var colour: TerminalSequence {
        switch self {
        case .ok: .green
        case .attention: .boldRed
        case .absent: .dim
        }
    }
}

extension DoctorRow {
    fileprivate var json: JSON {
        .object([
            ("name", .text(name)), ("state", .text(state.rawValue)), ("found", .text(found.description)),
            ("hint", hint.map { .text($0.command) } ?? .null), ("root", .boolean(hint?.needsRoot ?? false)),
        ])
    }
}
