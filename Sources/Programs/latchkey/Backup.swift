// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyDesktop
import LatchkeyModel
import LatchkeySystem

/// export, import: copies the bytes of a backup between the daemon and a file. Only the daemon can decrypt them.
enum Backup {
    static func write(_ options: Options) throws(CommandFailure) {
        let path = try options.requiredFile
        guard options.replaces || !Files.exists(path) else {
            throw .failure(Failure(.duplicateItem, "\(path) exists already.", hint: "Replace it with --replace."))
        }
        try failing { () throws(Failure) in
            var progress = Progress { localized("\($0) items exported") }
            let result = try BackupTransfer(Client.command).export(to: path) { progress.reach($0) }
            progress.end()
            report(options, [("exported", result.count)], result.skipped) {
                let first = localized.count(
                    Int(clamping: result.count), "\(result.count) item was exported.",
                    "\(result.count) items were exported.")
                let advice = localized(
                    """
                    The prompt showed the recovery code, which is not shown again. Write it down and keep it apart from \
                    the file, on paper or in a safe: without the code nothing in the file can be read, and with it \
                    everything can.
                    """)
                return "\(first) \(advice)\n"
            }
        }
    }

    static func read(_ options: Options) throws(CommandFailure) {
        let path = try options.requiredFile
        try failing { () throws(Failure) in
            var progress = Progress { localized("\($0) items imported") }
            let result = try BackupTransfer(Client.command).restore(from: path) { progress.reach($0) }
            progress.end()
            report(options, [("imported", result.count), ("present", result.present)], result.skipped) {
                localized.count(
                    Int(clamping: result.count),
                    "\(result.count) item was imported, \(result.present) already present.",
                    "\(result.count) items were imported, \(result.present) already present.") + "\n"
            }
        }
    }

    private static func report(
        _ options: Options, _ counts: [(String, UInt64)], _ skipped: SkippedItems, words: () -> String
    ) {
        guard options.isJSON else { return Output.write(words() + skipped.words) }
        var fields = counts.map { ($0.0, JSON.number(Int64(clamping: $0.1))) }
        fields.append(("left", .number(Int64(clamping: skipped.count))))
        fields.append(("stays", .array(skipped.named.map(\.json))))
        Output.write(JSON.object(fields).line + "\n")
    }
}
