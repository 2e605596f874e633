// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem

/// export, import: copies the bytes of a backup between the daemon and a file. Only the daemon can decrypt them.
enum Backup {
    static func write(_ options: Options) throws(CommandFailure) {
        let path = options.arguments[0]
        guard options.replaces || !Files.exists(path) else {
            throw .failure(Failure(.duplicateItem, "\(path) exists already.", hint: "Replace it with --replace."))
        }
        do throws(Failure) {
            // The file has another name until it is complete, so that `path` never names an incomplete backup.
            let file = try NewFile(path)
            var (progress, staying) = (Progress("exported"), Staying())
            var cursor: [UInt8]?
            repeat {
                let reply = try Client.command.call(.exportItems(Request.ExportItems(cursor: cursor)))
                guard case .exported(let page) = reply else {
                    throw Failure(.internalFailure, "The daemon sent an unexpected kind of reply.")
                }
                try file.write(page.bytes)
                progress.reach(Int(clamping: page.count))
                staying.add(page.staying)
                cursor = page.cursor
            } while cursor != nil
            try file.finish()
            progress.end()
            report(options, [("exported", UInt64(progress.count))], staying) {
                """
                \(Self.items(UInt64(progress.count))) exported. The prompt showed the recovery code, which is \
                not shown again. Write it down and keep it apart from the file, on paper or in a safe: without the \
                code nothing in the file can be read, and with it everything can.

                """
            }
        } catch {
            throw .failure(error)
        }
    }

    static func read(_ options: Options) throws(CommandFailure) {
        let path = options.arguments[0]
        do throws(Failure) {
            let file = try BackupInput(path)
            var (progress, staying) = (Progress("imported"), Staying())
            var part: Reply.Imported?
            repeat {
                if part?.wantsStart == true { try file.rewind() }
                let (bytes, isLast) = try file.next(Limits.importedBytes)
                let request = Request.ImportItems(cursor: part?.cursor, bytes: bytes, isLast: isLast)
                guard case .imported(let next) = try Client.command.call(.importItems(request)) else {
                    throw Failure(.internalFailure, "The daemon sent an unexpected kind of reply.")
                }
                progress.reach(Int(clamping: next.added))
                staying.add(next.staying)
                part = next
            } while part?.cursor != nil
            progress.end()
            let (added, present) = (part?.added ?? 0, part?.present ?? 0)
            report(options, [("imported", added), ("present", present)], staying) {
                "\(Self.items(added)) imported, \(present) already present.\n"
            }
        } catch {
            throw .failure(error)
        }
    }

    private static func items(_ count: UInt64) -> String { count == 1 ? "One item was" : "\(count) items were" }

    private static func report(
        _ options: Options, _ counts: [(String, UInt64)], _ staying: Staying, words: () -> String
    ) {
        guard options.isJSON else { return Output.write(words() + staying.words) }
        var fields = counts.map { ($0.0, JSON.number(Int64(clamping: $0.1))) }
        fields.append(("left", .number(Int64(clamping: staying.count))))
        fields.append(("stays", .array(staying.named.map(\.json))))
        Output.write(JSON.object(fields).line + "\n")
    }
}
