// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyBackup
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem

/// export, import: a keychain's portable items in a file under a recovery code.
enum Backup {
    static func write(_ options: Options) throws(CommandFailure) {
        let path = try options.name(of: "export")
        guard options.replaces || !Files.exists(path) else {
            throw .failure(Failure(.duplicateItem, "\(path) exists already.", hint: "Replace it with --replace."))
        }
        do throws(Failure) {
            let context = try proven("export the keychain")
            let code = try RecoveryCode.make()
            let header = try BackupHeader.make()
            var writer = try BackupWriter(header, code)
            // Under another name until it is whole, so that a backup is never half of one.
            let file = try NewFile(path)
            try file.write(header.bytes)
            var progress = Progress("exported")
            var leftOut: UInt64 = 0
            var after: Int64? = 0
            while let position = after {
                let request = Request.ExportItems(context: context, after: position)
                guard case .exported(let page) = try Client.command.call(.exportItems(request)) else {
                    throw Failure(.internalFailure, "The daemon's answer is of another kind.")
                }
                for item in page.items { try file.write(writer.record(item)) }
                progress.add(page.items.count)
                leftOut += page.leftOut
                after = page.next
            }
            try file.write(writer.end())
            try file.finish()
            progress.end()
            report(options, progress.count, leftOut, code)
        } catch {
            throw .failure(error)
        }
    }

    static func read(_ options: Options) throws(CommandFailure) {
        let path = try options.name(of: "import")
        let typed = try Input.passcodes(["Recovery code: "], repeatsLast: false)[0]
        guard let code = RecoveryCode(typed: typed) else {
            throw .usage("that is no recovery code", "It has 26 characters; look for a slip of the pen.")
        }
        do throws(Failure) {
            let file = try BackupInput(path)
            var reader = try BackupReader(BackupHeader(file.read(BackupHeader.byteCount)), code)
            let context = try proven("import a backup")
            var progress = Progress("imported")
            var present = 0
            while true {
                let prefix = try file.read(BackupReader.prefixBytes)
                let sealed = try file.read(reader.length(prefix))
                guard let item = try reader.item(prefix, sealed) else { break }
                do throws(Failure) {
                    _ = try Client.command.call(.importItem(Request.ImportItem(context: context, item: item)))
                    progress.add(1)
                } catch {
                    guard error.status == .duplicateItem else { throw error }
                    present += 1
                }
            }
            progress.end()
            Output.write(
                options.isJSON
                    ? JSON.object([("imported", .number(Int64(progress.count))), ("present", .number(Int64(present)))])
                        .line + "\n"
                    : "\(progress.count) items were imported, \(present) were there already.\n")
        } catch {
            throw .failure(error)
        }
    }

    /// A context on which the owner of the keychain has shown to be there, where that can be shown.
    private static func proven(_ reason: String) throws(Failure) -> ContextHandle {
        guard case .context(let context) = try Client.command.call(.createContext) else {
            throw Failure(.internalFailure, "The daemon's answer is of another kind.")
        }
        let evaluate = Request.Evaluate(
            context: context, policy: .deviceOwnerAuthentication, prompting: Prompting(reason: reason))
        do throws(Failure) {
            _ = try Client.command.call(.evaluate(evaluate))
        } catch {
            guard error.status == .passcodeNotSet else { throw error }
        }
        return context
    }

    private static func report(_ options: Options, _ count: Int, _ leftOut: UInt64, _ code: RecoveryCode) {
        if options.isJSON {
            let object = JSON.object([("exported", .number(Int64(count))), ("left", .number(Int64(clamping: leftOut)))])
            Output.write(object.line + "\n")
        } else {
            Output.write("\(count) items were exported.\n")
            if leftOut > 0 { Output.write("\(leftOut) stay: they are bound to this device or to a password.\n") }
        }
        // Apart from the report, so that a log of it holds no key.
        Output.writeError("Recovery code, shown this once: ")
        Output.writeError(code.grouped)
        Output.writeError("\n")
    }
}
