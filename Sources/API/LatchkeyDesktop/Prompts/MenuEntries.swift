// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyIdentity
import LatchkeyModel
package import LatchkeySystem
import LatchkeyWords

/// What the menu of the desktop calls a program: a name and an icon, which a prompt shows in place of a file name.
package struct MenuEntry: Equatable, Sendable {
    /// The name in the language of the session.
    package let name: String
    /// The name of an icon; nil if there is none, or if it is named by its path.
    package let icon: String?
}

/// The desktop entries (freedesktop.org, "Desktop Entry Specification") of the system.
///
/// An entry only decorates what the service found that identifies programs, and must not make one program look as another:
/// it counts only in a folder of the system, if only root can change folder and file, and if it names exactly the path of
/// the executable, without a word that the program could read as another program (docs/reference/identity.md).
package struct MenuEntries: Sendable {
    /// The folders of the system; that of a user does not count.
    package static let systemFolders = ["/usr/share/applications", "/usr/local/share/applications"]
    /// Where an entry that names no folder means a program.
    private static let programFolder = "/usr/bin"
    private static let fileLimit = 4096
    private static let byteLimit = 256 << 10

    private let folders: [String]
    private let isProtected: @Sendable (PathWalk.Component) -> Bool
    private let isProgram: @Sendable (_ path: String) -> Bool

    /// Creates the entries of these folders.
    ///
    /// - Parameters:
    ///   - isProtected: whether only root can change a file or a folder.
    ///   - isProgram: whether the file at a path can be the identity of the program that executes it.
    package init(
        _ folders: [String] = MenuEntries.systemFolders,
        isProtected: @escaping @Sendable (PathWalk.Component) -> Bool = { ProtectedPath.belongsToRoot($0) },
        isProgram: @escaping @Sendable (_ path: String) -> Bool = { (try? InstalledProgram.exists(at: $0)) == true }
    ) {
        (self.folders, self.isProtected, self.isProgram) = (folders, isProtected, isProgram)
    }

    /// The entry of a program; nil if there is none, if several entries name it, or if it cannot be determined. Reads files,
    /// and waits for nothing else.
    ///
    /// - Parameters:
    ///   - path: the path of the executable.
    ///   - languages: the languages of the name, the preferred one first; empty for English.
    package func entry(ofProgram path: String, languages: [String]) -> MenuEntry? {
        guard isProgram(path) else { return nil }
        var found: [MenuEntry] = []
        for folder in folders {
            // A folder that is missing or cannot be read has no entries: the label of the program stays.
            guard let entries = try? entries(in: folder, ofProgram: path, languages) else { continue }
            found += entries
        }
        return found.count == 1 ? found[0] : nil
    }

    private func entries(
        in folder: String, ofProgram path: String, _ languages: [String]
    ) throws(SystemError) -> [MenuEntry] {
        let calls = SystemCalls.kernel
        let walk = try PathWalk(folder, MountTable([]), calls, isAllowed: isProtected)
        guard walk.components.allSatisfy(isProtected) else { return [] }
        var found: [MenuEntry] = []
        for name in try calls.names(walk.file, folder, limit: Self.fileLimit) {
            // A file that cannot be read or is not UTF-8 is no entry: the label of the program stays.
            guard let name = name.text, name.ends(with: ".desktop"),
                // Without O_NONBLOCK a FIFO would block here.
                let file = try? calls.open(name, below: walk.file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY),
                let status = try? calls.status(of: file, name), status.kind == .regularFile,
                isProtected(PathWalk.Component(status: status, mount: nil)),
                let bytes = try? calls.readAll(file, name, limit: Self.byteLimit),
                let text = String(validating: bytes, as: UTF8.self),
                let entry = Self.entry(in: text, ofProgram: path, languages)
            else { continue }
            found.append(entry)
        }
        return found
    }

    // MARK: - The format

    /// Words of `Exec` that stand for files and for the entry itself. Any other word could be the program that a launcher or
    /// an interpreter runs.
    private static let codes: Set<Substring> = [
        "%f", "%F", "%u", "%U", "%i", "%c", "%k", "%d", "%D", "%n", "%N", "%v", "%m",
    ]

    /// The entry, if the text is that of an application whose `Exec` names exactly this program.
    static func entry(in text: String, ofProgram path: String, _ languages: [String]) -> MenuEntry? {
        var values: [Substring: Substring] = [:]
        var isInGroup = false
        for line in text.parts(at: "\n") {
            if line.begins(with: "[") {
                isInGroup = trimmed(line).hasBytes(of: "[Desktop Entry]")
                continue
            }
            guard isInGroup, !line.begins(with: "#"), let sign = line.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                continue
            }
            let key = trimmed(line[..<sign])
            // The specification forbids a key that occurs twice: which one counts is not known.
            guard values[key] == nil else { return nil }
            values[key] = trimmed(line[line.utf8.index(after: sign)...])
        }
        guard let type = values["Type"], type.hasBytes(of: "Application"), values["Hidden"] != "true",
            let exec = values["Exec"],
            names(exec, path), let name = languages.lazy.compactMap({ values["Name[\($0)]"] }).first ?? values["Name"],
            isName(name)
        else { return nil }
        return MenuEntry(name: String(name), icon: values["Icon"].flatMap { isIcon($0) ? String($0) : nil })
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isBlank = { (byte: UInt8) in [0x20, 0x09, 0x0d].contains(byte) }
        let rest = text.utf8.drop(while: isBlank)
        guard let last = rest.lastIndex(where: { !isBlank($0) }) else { return "" }
        return Substring(rest[...last])
    }

    /// Whether `Exec` is this program alone. A quoted path does not count.
    private static func names(_ exec: Substring, _ path: String) -> Bool {
        let words = exec.parts(at: " ")
        guard let program = words.first, words.dropFirst().allSatisfy(codes.contains) else { return false }
        return path.hasBytes(of: program.utf8.contains(UInt8(ascii: "/")) ? program : "\(programFolder)/\(program)")
    }

    /// Whether a prompt can quote the name: it neither ends the quotation nor has characters that are not shown.
    private static func isName(_ name: Substring) -> Bool {
        (1...Limits.titleCharacters).contains(name.count)
            && name.unicodeScalars.allSatisfy {
                $0 != "\\" && !$0.properties.isQuotationMark && !$0.controlsText
            }
    }

    /// Whether it is the name of an icon in a theme.
    private static func isIcon(_ icon: Substring) -> Bool {
        !icon.isEmpty && icon.utf8.count <= 255
            && icon.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
                    || [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "+")].contains($0)
            }
    }
}
