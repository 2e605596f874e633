// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Report {
    /// The report as lines of text.
    var text: [String] {
        var lines = [machine.line, "secrets of \(secretBytes) bytes, durable writes, one caller", ""]
        lines += Report.table(
            ["items", "call", "median µs", "p99 µs", "n"],
            times.map { time in
                [
                    time.items == 0 ? "" : "\(time.items)", (time.isFloor ? "floor: " : "") + time.call,
                    number(time.medianMicroseconds),
                    number(time.percentile99Microseconds), "\(time.samples)",
                ]
            })
        lines.append("")
        lines += Report.table(
            ["items", "number", "measured", "goal", ""],
            goals.map { goal in
                [
                    goal.items == 0 ? "" : "\(goal.items)", goal.name, "\(number(goal.value, 2)) \(goal.unit)",
                    goal.goal.map { "\(goal.isLeast ? "at least" : "at most") \(number($0, 2)) \(goal.unit)" } ?? "",
                    goal.isMet.map { $0 ? "met" : "not met" } ?? "",
                ]
            })
        lines.append("")
        lines += Report.table(
            ["items", "count", "per call", "n"],
            counts.map { ["\($0.items)", $0.name, number($0.perCall), "\($0.samples)"] })
        return lines
    }

    private func number(_ value: Double, _ digits: Int = 1) -> String { String(format: "%.\(digits)f", value) }

    /// Formats a table: the second column holds text and is left-aligned, all others are right-aligned.
    private static func table(_ head: [String], _ rows: [[String]]) -> [String] {
        let widths = head.indices.map { column in ([head] + rows).map { $0[column].count }.max() ?? 0 }
        return ([head] + rows).map { row in
            let cells = row.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 1 ? row[column] + space : space + row[column]
            }
            return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }
    }
}
