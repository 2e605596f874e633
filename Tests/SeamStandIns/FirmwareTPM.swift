// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// What a published firmware TPM takes for its commands, and what is felt of a signature by that: the rows of
/// `Tests/Vectors/tpm-times.tsv`, which the tests of the system share.
package enum FirmwareTPM {
    private static let rows: [[Substring]] = {
        // A test expects figures that an empty file does not have.
        let text = (try? String(contentsOf: Repository.vectors("tpm-times.tsv"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.split(separator: "\t") }
    }()

    private static let times = Dictionary(
        uniqueKeysWithValues: rows.filter { $0.count >= 3 && $0[0] == "time" }.map { ($0[1], Int($0[2]) ?? 0) })

    /// The milliseconds that it takes for a command.
    static func milliseconds(_ command: UInt32) -> Int { times[String(command, radix: 16)[...]] ?? times["other"] ?? 0 }

    /// The number of commands between what a person does, `finger` or `passcode`, and the reply, and their milliseconds.
    package static func felt(by use: String) -> (commands: Int, milliseconds: Int)? {
        guard let row = rows.first(where: { $0.count == 4 && $0[0] == "felt" && $0[1] == use }),
            let commands = Int(row[2]), let milliseconds = Int(row[3])
        else { return nil }
        return (commands, milliseconds)
    }
}
