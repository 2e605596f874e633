// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestSupport
import Testing

@testable import LatchkeyDesktop

@Suite struct StoreRowTests {
    private let machine: TemporaryMachine
    private let folder: String

    init() throws {
        machine = try TemporaryMachine()
        // The space must not divide the path in a command.
        folder = machine.root + "/my store"
    }

    private func makeStore() throws {
        try machine.write("/my store/root.key", "key", mode: 0o600)
        try machine.write("/my store/keychain.sqlite", "items", mode: 0o600)
        try machine.setMode("/my store", 0o700)
    }

    private func row(_ report: StatusReport? = nil) -> DoctorRow {
        .store(StoreFacts(reading: .success(folder)), report)
    }

    @Test func storeThatDoesNotExistIsAbsent() throws {
        #expect(row().state == .absent)
        try #require(mkdir(folder, 0o700) == 0)
        #expect(row().state == .absent && row().found.contains("empty"))
        #expect(StoreFacts(reading: .success(folder)).isNew)
    }

    @Test func storeWithItsOwnerAndModesIsFine() throws {
        try makeStore()
        #expect(row() == DoctorRow("store", .ok, "\(folder)"))
        #expect(!StoreFacts(reading: .success(folder)).isNew)
        #expect(row(.sound).state == .ok)
    }

    @Test(arguments: [("/my store", 0o755), ("/my store/root.key", 0o644)] as [(String, mode_t)])
    func readableStoreIsMended(path: String, mode: mode_t) throws {
        try makeStore()
        try machine.setMode(path, mode)
        #expect(row().state == .attention && row().found.contains("(mode \(String(mode, radix: 8)))"))
        try row().mend()
        #expect(row().state == .ok, "\(row())")
    }

    @Test func movedStoreWithoutSystemKeychainIsOpenedAgain() throws {
        try makeStore()
        try #require(rename(folder + "/root.key", folder + "/root.key.moved") == 0)
        #expect(row().state == .attention && row().found.contains("root.key.moved"), "\(row())")
        try row().mend()
        #expect(row().state == .ok, "\(row())")
    }

    @Test(.needs(.root), arguments: ["/my store", "/my store/root.key"])
    func storeOfAnotherUserIsReturned(path: String) throws {
        try makeStore()
        try #require(chown(machine.root + path, 990, 990) == 0)
        #expect(row().state == .attention && row().hint?.needsRoot == true, "\(row())")
        try row().mend()
        #expect(row().state == .ok, "\(row())")
    }

    @Test func fileInPlaceOfTheFolderIsMovedAway() throws {
        try machine.write("/my store")
        #expect(row().state == .attention)
        try row().mend()
        #expect(row().state == .absent && Files.exists(folder + ".old"))
    }

    @Test func missingRootKeyIsNamedAndNothingIsDeleted() throws {
        try makeStore()
        unlink(folder + "/root.key")
        #expect(row().state == .attention && row().found.contains("root.key is missing"))
        try row().mend()
        #expect(row().state == .absent)
        #expect(Files.exists(folder + ".without-key/keychain.sqlite"))
    }

    @Test func problemOfTheDaemonIsShownWithItsAdvice() throws {
        try makeStore()
        let report = StatusReport.sound.with(\.problem, Failure(.anchorOld, "It is old.", hint: "Do this."))
        #expect(row(report) == DoctorRow("store", .attention, "It is old. Do this.", .init("latchkey check")))
        #expect(DoctorRow.systemStore(report).state == .attention)
        #expect(DoctorRow.systemStore(.sound) == DoctorRow("store", .ok, "/store"))
        #expect(DoctorRow.systemStore(nil).state == .absent)
    }

    @Test func relativeFolderIsRefusedWithTheVariableThatNamesIt() {
        let failure = Failure(.noHome, "LATCHKEY_HOME is not an absolute path.")
        let chosen = DoctorRow.store(StoreFacts(reading: .failure(failure), isChosen: true), nil)
        #expect(chosen.state == .attention && chosen.hint?.command == "unset LATCHKEY_HOME")
        #expect(DoctorRow.store(StoreFacts(reading: .failure(failure)), nil).hint == nil)
    }

    @Test func pathOfAnotherUserBecomesNoCommand() {
        for (text, word) in [
            ("/a/b-1.sock", "/a/b-1.sock"), ("a b", "'a b'"), ("", "''"), ("$(id)", "'$(id)'"), ("'", "''\\'''"),
            ("a;b", "'a;b'"),
        ] {
            #expect(ShellWord.quoted(text) == word)
        }
    }
}
