// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem

/// setup cargo: `registry.global-credential-providers` in config.toml. Lines are added and made comments; the others stay byte
/// for byte, and a file in which that could mean something else is refused.
enum CargoSetup {
    static func run(_ options: Options) throws(CommandFailure) {
        let file = try failing { () throws(Failure) in
            let folder = try SetupFile.folder(".cargo", variable: "CARGO_HOME")
            // cargo prefers the earlier name of the file.
            return try SetupFile(folder + (Files.exists(folder + "/config") ? "/config" : "/config.toml"))
        }
        var change = SetupChange(tool: .cargo, place: file.path)
        let (old, new) = try failing { () throws(Failure) -> (CargoConfiguration, CargoConfiguration) in
            let old = try CargoConfiguration(file)
            if options.has(.undo) { return (old, old.withoutHelper) }
            guard !old.hasHelper else { return (old, old) }
            try SetupChange.checkHelper(of: .cargo)
            return (old, try old.withHelper(replaces: options.replaces, isNewFile: file.content == nil))
        }
        change.removed = old.lines.filter { !new.lines.contains($0) }
        change.added = new.lines.filter { !old.lines.contains($0) }
        try change.make(options) { () throws(Failure) in try file.replace(new.bytes(removing: old)) }
    }
}

/// The lines of cargo's config.toml.
struct CargoConfiguration {
    private static let key = "global-credential-providers"
    private static let mark = "# latchkey setup"
    private static let commented = mark + ": "
    private static let newFile = mark + ", new file"
    private static let value = "= [\"cargo:token\", \"\(CredentialTool.cargo.helper)\"] \(mark)"

    private(set) var lines: [String]

    init(_ file: SetupFile) throws(Failure) {
        guard let text = String(validating: file.content ?? [], as: UTF8.self) else {
            throw Failure(.invalidParameter, "\(file.path) is not valid UTF-8.", hint: "Change it by hand.")
        }
        lines = text.parts(at: "\n", omittingEmpty: false).map(String.init)
        guard !text.contains("\"\"\"") && !text.contains("'''") else {
            throw Self.unclear(localized("It has texts of several lines."))
        }
    }

    /// The content of the file; nil if the change of an earlier setup made it and nothing else is in it.
    func bytes(removing old: CargoConfiguration) -> [UInt8]? {
        let text = lines.joined(separator: "\n")
        let isUnused = text.isEmpty && old.lines.contains { $0.ends(with: Self.newFile) }
        return isUnused ? nil : Array(text.utf8)
    }

    private static func unclear(_ reason: String) -> Failure {
        Failure(
            .invalidParameter, "The configuration of cargo cannot be changed safely.",
            hint: "\(reason) Add by hand, in the table registry: \(key) \(value)")
    }

    private static func isOurs(_ line: String) -> Bool { line.ends(with: mark) || line.ends(with: newFile) }

    var hasHelper: Bool { lines.contains { Self.isOurs($0) && $0.contains(Self.key) } }

    /// A line without comment, blanks and quotes, which is enough to recognise a table and a key.
    private static func bare(_ line: String) -> String {
        String(line.prefix { $0 != "#" }.filter { !$0.isWhitespace && $0 != "\"" && $0 != "'" })
    }

    // MARK: - Setting

    func withHelper(replaces: Bool, isNewFile: Bool) throws(Failure) -> CargoConfiguration {
        var changed = self
        let bare = lines.map(Self.bare)
        if let index = bare.firstIndex(where: { $0.contains(Self.key) }) {
            guard replaces else {
                throw SetupChange.refusal(.cargo, lines[index].withoutControls)
            }
            let isWhole = bare[index].hasPrefix(Self.key + "=[") || bare[index].hasPrefix("registry." + Self.key + "=[")
            guard isWhole, bare[index].hasSuffix("]"), let sign = lines[index].firstIndex(of: "="),
                bare.count(where: { $0.contains(Self.key) }) == 1
            else { throw Self.unclear(localized("The present value has several lines, or an unusual form.")) }
            changed.lines[index] = Self.commented + lines[index]
            changed.lines.insert(lines[index][..<sign] + Self.value, at: index + 1)
            return changed
        }
        if let table = bare.firstIndex(of: "[registry]") {
            changed.lines.insert("\(Self.key) \(Self.value)", at: table + 1)
        } else if let key = bare.firstIndex(where: { $0.hasPrefix("registry.") }) {
            changed.lines.insert("registry.\(Self.key) \(Self.value)", at: key)
        } else {
            guard !bare.contains(where: { $0.hasPrefix("registry=") }) else {
                throw Self.unclear(localized("It has the table registry in one line."))
            }
            // Before the end of the last line, if that has one.
            let end = lines.last == "" ? lines.count - 1 : lines.count
            let header = "[registry] " + (isNewFile ? Self.newFile : Self.mark)
            changed.lines.insert(contentsOf: [header, "\(Self.key) \(Self.value)"], at: end)
        }
        return changed
    }

    // MARK: - Undoing

    var withoutHelper: CargoConfiguration {
        var changed = self
        changed.lines = []
        for (index, line) in lines.enumerated() {
            if line.begins(with: Self.commented) {
                changed.lines.append(String(line.dropFirst(Self.commented.count)))
            } else if !Self.isOurs(line) {
                changed.lines.append(line)
            } else if Self.bare(line) == "[registry]", isUsed(index) {
                changed.lines.append("[registry]")
            }
        }
        return changed
    }

    /// Whether a key that is not ours was added to the table that begins at a line.
    private func isUsed(_ table: Int) -> Bool {
        lines[(table + 1)...].prefix { !Self.bare($0).hasPrefix("[") }.contains {
            !Self.isOurs($0) && !Self.bare($0).isEmpty
        }
    }
}
