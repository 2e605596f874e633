// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyDesktop
import LatchkeyModel
import LatchkeySystem

/// What `latchkey setup` changes in the configuration of a tool.
struct SetupChange {
    let tool: CredentialTool
    /// The file, or the command that changes it.
    let place: String
    var removed: [String] = []
    var added: [String] = []

    /// Makes the change, unless it is only to be shown, and shows it.
    func make(_ options: Options, _ body: () throws(Failure) -> Void) throws(CommandFailure) {
        let isMade = !options.has(.dryRun) && !(removed.isEmpty && added.isEmpty)
        if isMade { try failing(body) }
        if options.isJSON {
            let lists = [("removed", removed), ("added", added)].map { ($0, JSON.array($1.map { .text($0) })) }
            let facts: [(String, JSON)] = [("tool", .text(tool.rawValue)), ("place", .text(place))]
            return Output.write(JSON.object(facts + lists + [("changed", .boolean(isMade))]).line + "\n")
        }
        guard !removed.isEmpty || !added.isEmpty else {
            return Output.write(
                (options.has(.undo)
                    ? localized("\(tool.rawValue) does not use latchkey: there is nothing to undo.")
                    : localized("\(tool.rawValue) uses latchkey already.")) + "\n")
        }
        let lines = removed.map { "- " + $0 } + added.map { "+ " + $0 }
        Output.write(([place + ":"] + lines).map { $0.withoutControls + "\n" }.joined())
        if !isMade { Output.write(localized("Nothing was changed.") + "\n") }
    }

    /// Throws if the tool would not find this program.
    static func checkHelper(of tool: CredentialTool) throws(Failure) {
        do throws(SystemError) { _ = try Processes.find(Array(tool.helper.utf8)) } catch {
            throw Failure(
                .itemNotFound, "\(tool.rawValue) would not find \(tool.helper).",
                hint: "Install Latchkey in a prefix whose folder bin is in PATH.")
        }
    }

    /// The refusal of a change that would end the use of another helper.
    static func refusal(_ tool: CredentialTool, _ other: String) -> Failure {
        Failure(
            .duplicateItem, "\(tool.rawValue) uses another helper: \(other).",
            hint: "Replace it with --replace. latchkey setup \(tool.rawValue) --undo sets it again.")
    }
}

/// A configuration file of the user, which is replaced as a whole.
struct SetupFile {
    private static let mostBytes = 1 << 20

    let path: String
    /// nil if there is no file.
    let content: [UInt8]?
    private let mode: UInt32

    /// Reads a file. It must be the user's own and no link: what a link names can be a file of another place and program.
    init(_ path: String) throws(Failure) {
        self.path = path
        guard Files.exists(path) else {
            (content, mode) = (nil, 0o600)
            return
        }
        let record: FileRecord
        do throws(SystemError) {
            record = try FileRecord(at: path)
            content = try record.isType(S_IFREG) ? Files.read(path, limit: Self.mostBytes)?.copyBytes() : nil
        } catch {
            throw Failure(error, "\(path) cannot be read")
        }
        guard record.isType(S_IFREG), record.owner == geteuid() else {
            throw Failure(
                .invalidParameter, "\(path) is a link, or no file of yours.",
                hint: "Change by hand the file that it names.")
        }
        mode = record.mode & 0o7777
    }

    /// Replaces the content, or deletes the file if it is nil. Throws if another program has changed the file meanwhile.
    func replace(_ new: [UInt8]?) throws(Failure) {
        guard try SetupFile(path).content == content else {
            throw Failure(.duplicateItem, "Another program has changed \(path).", hint: "Try again.")
        }
        guard let new else { return Files.remove(path) }
        let folder = Files.folder(of: path)
        if !Files.exists(folder) { try Files.makePrivateFolder(folder) }
        let file = try NewFile(FilePath(path), mode: mode)
        try file.write(new)
        try file.finish()
    }

    /// A folder of the user, which a variable can name instead.
    static func folder(_ name: String, variable: String) throws(Failure) -> String {
        if let folder = Environment.value(variable) { return folder }
        guard let home = Environment.home else {
            throw Failure(.noHome, "There is no home folder.", hint: "Set HOME.")
        }
        return home + "/" + name
    }
}
