// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import LatchkeyWords

/// How a window calls the program that asks: by its name in the menu of the desktop, where it has one.
///
/// What the service said about the program stays as it is, and is shown too.
struct CallerAppearance: Equatable, Sendable {
    /// The name in place of `Prompt.caller`; nil if there is none.
    var name: String?
    /// The name of the program's icon; nil if there is none.
    var icon: String?
    /// Whether it is a program of Latchkey, installed beside this one.
    var isOwnProgram = false

    /// The programs of Latchkey that cause prompts.
    private static let ownPrograms: Set<String> = ["latchkey", "latchkey-settings"]

    /// The name of a program of Latchkey in its menu entry; nil for another one, and for the command, which has none.
    static func ownName(_ program: String, _ words: Words) -> String? {
        program == "latchkey-settings" ? words("Latchkey Settings") : nil
    }

    /// Finds out how to call the caller of a prompt. Reads files, and waits for nothing else.
    ///
    /// - Parameter folders: where the programs of Latchkey are.
    init(
        _ prompt: Prompt, _ words: Words, _ entries: MenuEntries = MenuEntries(), folders: [String] = ownFolders
    ) {
        // The service calls a program by another name if its executable is not its identity, for instance because it loads
        // code of the user, and if a package declares another name, which then stays.
        let file = Files.name(of: prompt.program)
        guard !file.isEmpty, prompt.caller == file, Self.isExecuted(prompt.program, by: prompt.processID) else {
            return
        }
        let folder = Files.folder(of: prompt.program)
        isOwnProgram = Self.ownPrograms.contains(file) && folders.contains { Self.isSame($0, folder) }
        if isOwnProgram { name = Self.ownName(file, words) }
        guard
            let entry = entries.entry(
                ofProgram: prompt.program, languages: LocaleName.languages { Environment.value($0) })
        else { return }
        (name, icon) = (entry.name, entry.icon)
    }

    /// The folder of this program; that of commands, where this program is in `libexec` beside it; and that of the daemon of a
    /// developer. Who can change one of them can change this program, too.
    private static var ownFolders: [String] {
        guard let own = Environment.executable.map({ Files.folder(of: $0) }) else { return [] }
        let daemon = Environment.value("LATCHKEY_DAEMON").map { Files.folder(of: $0) }
        return [own, Files.folder(of: own) + "/bin"] + [daemon].compactMap { $0 }
    }

    /// Whether the process executes the file that this program finds at the path: in a mount namespace of its own, a process
    /// of the user can have any file there.
    private static func isExecuted(_ path: String, by process: Int32) -> Bool {
        isSame("/proc/\(process)/exe", path)
    }

    /// Whether both names are those of one file or folder.
    private static func isSame(_ path: String, _ other: String) -> Bool {
        var (left, right) = (stat(), stat())
        // One that cannot be examined is not known to be the same: the label of the program stays.
        guard stat(path, &left) == 0, stat(other, &right) == 0 else { return false }
        return left.st_dev == right.st_dev && left.st_ino == right.st_ino
    }
}
