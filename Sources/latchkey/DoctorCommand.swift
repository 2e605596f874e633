// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyDoctor
import LatchkeyModel
import LatchkeySettings
import LatchkeySystem

/// doctor: shows what this machine has and lacks, and the next step for each gap.
enum DoctorCommand {
    static func run(_ options: Options) throws(CommandFailure) {
        // Without the program no row names a finger.
        let rows = Doctor.rows(fingerprints: try? FingerprintProgram.find())
        let gaps = rows.filter { $0.state == .attention }
        if options.isJSON {
            let pairs: [(String, JSON)] = [("ok", .boolean(gaps.isEmpty)), ("rows", .array(rows.map(\.json)))]
            Output.write(JSON.object(pairs).line + "\n")
        } else {
            let isColoured = isatty(STDOUT_FILENO) == 1 && Environment.value("NO_COLOR") == nil
            Output.write(text(rows, isColoured: isColoured))
        }
        guard gaps.isEmpty else {
            let names = gaps.map { localized.translation(of: $0.name) }.joined(separator: ", ")
            let lines = localized.count(
                gaps.count, "One line needs attention", "\(gaps.count) lines need attention")
            throw .failure(
                Failure(.internalFailure, localized("\(lines): \(names)."), hint: "Run the commands beside them."))
        }
    }

    /// One line for each row, and one for its command.
    static func text(_ rows: [DoctorRow], isColoured: Bool) -> String {
        let lines = rows.flatMap { row -> [[String]] in
            let line = [row.state.shown, localized.translation(of: row.name), localized.translation(of: row.found)]
            return [line]
                + (row.hint.map {
                    [["", "", ($0.needsRoot ? localized("run as root:") : localized("run:")) + " " + $0.command]]
                } ?? [])
        }
        let text = Table.text(lines)
        guard isColoured else { return text }
        return text.split(separator: "\n").map { line in
            for state in [DoctorRow.State.ok, .attention, .absent] where line.hasPrefix(state.shown) {
                return state.colour + state.shown + "\u{1b}[0m" + line.dropFirst(state.shown.count) + "\n"
            }
            return line + "\n"
        }.joined()
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

    fileprivate var colour: String {
        switch self {
        case .ok: "\u{1b}[32m"
        case .attention: "\u{1b}[1;31m"
        case .absent: "\u{1b}[2m"
        }
    }
}

extension DoctorRow {
    fileprivate var json: JSON {
        .object([
            ("name", .text(name)), ("state", .text(state.rawValue)), ("found", .text(found)),
            ("hint", hint.map { .text($0.command) } ?? .null), ("root", .boolean(hint?.needsRoot ?? false)),
        ])
    }
}
