// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeyPrompts
import LatchkeySystem
import TestSupport
import Testing

@testable import LatchkeyDesktop

/// Which entries of the menu may give a program another name and an icon.
@Suite struct MenuEntriesTests {
    private static let program = "/usr/bin/notes"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Entries of the folder, in which a file that others can write is not the system's.
    private var entries: MenuEntries {
        MenuEntries(
            [folder.path, folder.path + "/missing"],
            isProtected: { $0.status.kind == .folder || $0.status.mode & 0o022 == 0 }, isProgram: { $0 == Self.program }
        )
    }

    private func write(_ text: String, to name: String = "notes.desktop", mode: mode_t = 0o644) throws {
        let file = try Descriptor.open(folder.path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC)
        try Array(text.utf8).withUnsafeBytes { try file.write(all: $0) }
        try #require(fchmod(file.number, mode) == 0)
    }

    private func found(_ languages: [String] = []) -> MenuEntry? {
        entries.entry(ofProgram: Self.program, languages: languages)
    }

    private static func text(_ exec: String = "/usr/bin/notes %U", name: String = "Notes", more: String = "") -> String
    {
        """
        # A comment
        [Desktop Entry]
        Type=Application
        Name=\(name)
        Name[de]=Notizen
        Exec=\(exec)
        Icon=org.example.Notes
        \(more)

        [Desktop Action new]
        Name=Another
        Exec=/usr/bin/other
        """
    }

    /// Texts that are equal to Swift and differ in their bytes name other programs.
    @Test func anEntryIsReadByItsBytes() throws {
        let names = MenuEntries([folder.path], isProtected: { _ in true }, isProgram: { _ in true })
        try write(Self.text("/usr/bin/\u{212a}eys"))
        #expect(names.entry(ofProgram: "/usr/bin/Keys", languages: []) == nil)
        try write(Self.text("/usr/bin/Keys"))
        #expect(names.entry(ofProgram: "/usr/bin/Keys", languages: [])?.name == "Notes")
        // A mark after the end of a line belongs to it as a character, and must not hide the next line.
        try write(Self.text("/usr/bin/Keys", more: "\u{301}\nExec=/usr/bin/Keys"))
        #expect(names.entry(ofProgram: "/usr/bin/Keys", languages: []) == nil)
        let file = try Descriptor.open(folder.path + "/notes.desktop", O_WRONLY | O_TRUNC)
        try (Array(Self.text("/usr/bin/Keys").utf8) + [0xff]).withUnsafeBytes { try file.write(all: $0) }
        #expect(names.entry(ofProgram: "/usr/bin/Keys", languages: []) == nil)
    }

    @Test func entryOfTheExecutableGivesNameAndIcon() throws {
        #expect(found() == nil)
        try write(Self.text())
        #expect(found() == MenuEntry(name: "Notes", icon: "org.example.Notes"))
        #expect(found(["de_DE", "de"])?.name == "Notizen" && found(["fr"])?.name == "Notes")
        #expect(entries.entry(ofProgram: "/usr/bin/other", languages: []) == nil)
    }

    @Test(arguments: ["/usr/bin/notes", "notes", "notes %f", "  notes   %F  %i %c %k "])
    func programAloneIsNamedExactly(_ exec: String) throws {
        try write(Self.text(exec))
        #expect(found()?.name == "Notes")
    }

    /// A launcher, an interpreter or a program of many names runs another program, and a relative path names any.
    @Test(arguments: [
        "/usr/bin/notes2", "/usr/local/bin/notes", "env notes", "/usr/bin/env A=b /usr/bin/notes",
        "/usr/bin/notes /home/x/script", "notes --new-window", "\"/usr/bin/notes\"", "/usr/bin/../bin/notes", "./notes",
        "bin/notes", "", "%U", "/usr/bin/notes\\s",
    ])
    func otherCommandsAreNoEntry(_ exec: String) throws {
        try write(Self.text(exec))
        #expect(found() == nil)
    }

    @Test func fileOfAnotherUserIsNoEntry() throws {
        try write(Self.text(), mode: 0o666)
        #expect(found() == nil)
        try write(Self.text(), to: "notes.txt")
        #expect(found() == nil)
        try #require(symlink(folder.path + "/notes.txt", folder.path + "/link.desktop") == 0)
        try #require(mkfifo(folder.path + "/pipe.desktop", 0o644) == 0)
        #expect(found() == nil)
    }

    @Test func folderOfAnotherUserHasNoEntries() throws {
        try write(Self.text())
        let entries = MenuEntries([folder.path], isProtected: { _ in false }, isProgram: { _ in true })
        #expect(entries.entry(ofProgram: Self.program, languages: []) == nil)
    }

    /// The executable can be changed by the user, or is an interpreter.
    @Test func programThatIsNoIdentityHasNoEntry() throws {
        try write(Self.text())
        let entries = MenuEntries([folder.path], isProtected: { _ in true }, isProgram: { _ in false })
        #expect(entries.entry(ofProgram: Self.program, languages: []) == nil)
        let real = MenuEntries([folder.path], isProtected: { _ in true })
        try write(Self.text("/bin/sh"))
        #expect(real.entry(ofProgram: "/bin/sh", languages: []) == nil)
    }

    @Test func twoEntriesOfOneProgramAreNone() throws {
        try write(Self.text())
        try write(Self.text(name: "Bank"), to: "bank.desktop")
        #expect(found() == nil)
    }

    @Test(arguments: [
        text(more: "Hidden=true"), text(more: "Exec=/usr/bin/other"), text(name: ""), text(name: "a“b"),
        text(name: "a\u{202e}b"), text(name: "a\u{200b}b"), text(name: "a\\nb"),
        text(name: String(repeating: "a", count: 49)),
        text().replacing("Application", with: "Link"), text().replacing("[Desktop Entry]", with: "[Other]"), "",
    ])
    func malformedEntriesAreNone(_ text: String) throws {
        try write(text)
        #expect(found() == nil)
    }

    @Test(arguments: ["/home/x/icon.png", "../icon", "a b", ""]) func iconIsTheNameOfOne(_ icon: String) throws {
        try write(Self.text().replacing("Icon=org.example.Notes", with: "Icon=\(icon)"))
        #expect(found() == MenuEntry(name: "Notes", icon: nil))
    }

    // MARK: - Callers

    private func appearance(
        _ caller: String, _ program: String, process: pid_t = getpid(), folders: [String] = []
    ) -> CallerAppearance {
        let prompt = Prompt(
            id: 1, caller: caller, program: program, processID: process, reason: "", cancelTitle: "", fallbackTitle: "",
            faceUsage: "", sensor: .none, tier: .user, terminal: 0, userID: 1000,
            content: PromptContent(method: .passcode, notice: .none, triesLeft: 3, showsFallback: false))
        let entries = MenuEntries([folder.path], isProtected: { _ in true }, isProgram: { _ in true })
        return CallerAppearance(prompt, .english, entries, folders: folders)
    }

    /// The process of the tests, which the entry names.
    @Test func callerIsNamedByItsEntryIfItIsCalledByItsFile() throws {
        let program = try #require(Environment.executable)
        let name = Files.name(of: program)
        try write(Self.text(program))
        #expect(appearance(name, program).name == "Notes")
        #expect(appearance(name, program).icon == "org.example.Notes")
        // Its executable is not its identity, or a package declared another name.
        #expect(appearance(Caller.undetermined, program).name == nil)
        #expect(appearance("Bank", program).icon == nil)
        // In a mount namespace of its own, the process has another file at this path.
        #expect(appearance("sh", "/bin/sh").name == nil)
        #expect(appearance(name, program, process: -1).name == nil)
        #expect(!appearance(name, program, folders: [Files.folder(of: program)]).isOwnProgram)
    }
}
