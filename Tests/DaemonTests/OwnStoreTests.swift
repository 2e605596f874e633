// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySystem
import TestSupport
import Testing

@testable import latchkey

/// What `latchkey migrate` finds in the folder of the user's own store, and what it deletes there.
@Suite struct OwnStoreTests {
    private let root: TemporaryFolder
    private var folder: String { root.path + "/latchkey" }

    init() throws {
        root = try TemporaryFolder()
        try Files.makePrivateFolder(folder)
        for name in ["anchor", "counters", "keychain.sqlite", "keychain.sqlite-wal", "daemon.log"] { try write(name) }
    }

    private func write(_ name: String) throws {
        try Files.replace(folder + "/" + name, with: SecretBytes("secret".utf8))
    }

    private func status(_ body: () throws(Failure) -> Void) -> Status? {
        do throws(Failure) { try body() } catch { return error.status }
        return nil
    }

    @Test func theRootKeyTellsTheStateOfAStore() throws {
        #expect(!OwnStore(folder).isInUse && !OwnStore(folder).wasMoved)
        try write("root.key.moved")
        #expect(!OwnStore(folder).isInUse && OwnStore(folder).wasMoved)
        // Renamed back, or a new store in the old folder.
        try write("root.key")
        #expect(OwnStore(folder).isInUse && !OwnStore(folder).wasMoved)
        #expect(!OwnStore(root.path + "/none").isInUse)
    }

    @Test func onlyAStoreThatWasMovedIsDeleted() throws {
        #expect(status { () throws(Failure) in _ = try OwnStore(folder).removal() } == .itemNotFound)
        try write("root.key")
        #expect(status { () throws(Failure) in _ = try OwnStore(folder).removal() } == .notPermitted)
        try write("root.key.moved")
        #expect(status { () throws(Failure) in _ = try OwnStore(folder).removal() } == .notPermitted)
        Files.remove(folder + "/root.key")
        try OwnStore(folder).removal().remove(erasing: OwnStore.secrets)
        #expect(!Files.exists(folder) && Files.exists(root.path))
    }

    @Test func aStoreWhoseDaemonRunsIsNotDeleted() throws {
        try write("root.key.moved")
        let lock = try DaemonLock.open(folder)
        #expect(DaemonLock.take(lock))
        // Another open file description, as in another process, sees the lock.
        #expect(status { () throws(Failure) in _ = try OwnStore(folder).removal() } == .notPermitted)
        withExtendedLifetime(lock) {}
    }

    // MARK: - The report

    private var report: MigrationReport {
        var report = MigrationReport()
        report.moved = 2
        report.rewrapped = 1
        report.remaining.add(
            SkippedItem(
                itemClass: .genericPassword, group: "notes", account: "ada", service: "mail", label: "",
                reason: .applicationPassword))
        report.add(group: "notes", as: "/usr/bin/notes")
        report.add(group: "same", as: "same")
        return report
    }

    @Test func theTextNamesItemsAndChangedGroups() {
        let text = MigrationText(report, isDone: false).text
        #expect(text.hasPrefix("A move to the system's keychain:\n  moved       2"))
        #expect(text.contains("Kept:\n  notes  password  mail ada: a password of the app protects it\n"))
        #expect(text.contains("  notes  ->  /usr/bin/notes  1 item\n") && !text.contains("same"))
        #expect(!text.contains("Lost:") && !text.contains("--discard"))
        #expect(MigrationText(report, isDone: true).text.contains("latchkey migrate --discard"))
    }

    @Test func theTextReplacesControlCharacters() {
        var report = report
        report.add(group: "a\u{1b}[2J", as: "user:1000")
        report.lost.add(
            SkippedItem(
                itemClass: .genericPassword, group: "b\u{1b}[2J", account: "\u{7}", service: "", label: "",
                reason: .unreadable))
        #expect(!MigrationText(report, isDone: false).text.contains { $0 == "\u{1b}" || $0 == "\u{7}" })
    }

    @Test func theJSONHasEveryCount() {
        let json = MigrationText(report, isDone: true).json
        for part in [
            "\"done\":true", "\"moved\":2", "\"rewrapped\":1", "\"present\":0", "\"kept\":1", "\"lost\":0",
            "\"reason\":\"applicationPassword\"",
            "{\"from\":\"notes\",\"to\":\"/usr/bin/notes\",\"items\":1}",
        ] {
            #expect(json.contains(part), "\(part) in \(json)")
        }
    }
}
