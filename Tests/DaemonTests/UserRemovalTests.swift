// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import SystemDriver
import TPMDriver
import TestSupport
import Testing

@testable import latchkey

/// `latchkey admin remove-user` in temporary folders, which belong to the user of the tests.
@Suite struct UserRemovalTests {
    private let root: TemporaryFolder
    private var stores: String { root.path + "/stores" }
    private var authorities: String { root.path + "/authorities" }
    private let manager = FileManager.default

    init() throws {
        root = try TemporaryFolder()
        for user in ["1000", "1001"] {
            try folder(
                stores + "/" + user, ["root.key", "anchor", "counters", "keychain.sqlite", "keychain.sqlite-wal"])
            try folder(authorities + "/" + user, ["account", "counters", "passcodes"])
        }
    }

    private func folder(_ path: String, _ names: [String]) throws {
        try Files.makePrivateFolder(path)
        for name in names { try Files.replace(path + "/" + name, with: SecretBytes("secret".utf8)) }
    }

    private func removal(_ user: UInt32 = 1000, owner: UInt32 = geteuid()) -> UserRemoval {
        UserRemoval(
            user, storeOwner: owner, authorityOwner: geteuid(), stores: stores, authorities: authorities)
    }

    /// All paths, with the content of files.
    private func everything() throws -> [String: Data?] {
        try manager.subpathsOfDirectory(atPath: root.path).reduce(into: [:]) { found, path in
            found[path] = .some(manager.contents(atPath: root.path + "/" + path))
        }
    }

    /// Expects that both the check and the removal are refused, and that nothing changes.
    private func expectRefusal(
        _ status: Status, _ text: String, _ removal: UserRemoval, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try everything()
        for isRun in [false, true] {
            do throws(Failure) {
                if isRun { try removal.run() } else { try removal.check() }
                Issue.record("it was not refused", sourceLocation: sourceLocation)
            } catch {
                #expect(error.status == status, sourceLocation: sourceLocation)
                #expect("\(error.message) \(error.hint)".contains(text), "\(error)", sourceLocation: sourceLocation)
            }
        }
        #expect(try everything() == before, sourceLocation: sourceLocation)
    }

    @Test func bothFoldersOfTheUserAreRemovedAndNoOther() throws {
        try removal().check()
        try removal().run()
        #expect(try manager.contentsOfDirectory(atPath: stores) == ["1001"])
        #expect(try Set(manager.contentsOfDirectory(atPath: authorities)) == ["1001", "daemon.log"])
        #expect(try manager.contentsOfDirectory(atPath: stores + "/1001").count == 5)
    }

    @Test func theRemovalIsRecorded() throws {
        try removal().run()
        let line = try #require(try DaemonLogFile.read(authorities).last)
        #expect(line.event == "userRemoved" && line.message.contains("user 1000"))
    }

    @Test func aRemovalThatCannotBeRecordedDoesNotBegin() throws {
        try manager.createDirectory(atPath: authorities + "/daemon.log", withIntermediateDirectories: false)
        let before = try everything()
        #expect(throws: Failure(.storeReadOnly)) { try removal().run() }
        #expect(try everything() == before)
    }

    @Test func keysAndVerifiersAreOverwritten() throws {
        let secrets = ["stores/1000/root.key", "stores/1000/anchor", "authorities/1000/passcodes"]
        // The descriptors show the content of the files after their names are gone.
        let open = try secrets.map { try Descriptor.open(root.path + "/" + $0, O_RDONLY) }
        let items = try Descriptor.open(stores + "/1000/keychain.sqlite", O_RDONLY)
        try removal().run()
        for file in open { #expect(try file.readAll(limit: 100) == [0, 0, 0, 0, 0, 0]) }
        #expect(try items.readAll(limit: 100) == Array("secret".utf8), "encrypted, so it is only removed")
    }

    /// One that a system call holds survives its service.
    @Test(arguments: ["stores", "authorities"])
    func aProcessOfTheUserThatIsLeftRefusesTheRemovalOfItsUserAlone(place: String) throws {
        let lock = try FolderLock.alone(root.path + "/" + place + "/1000")
        try expectRefusal(.storeReadOnly, "still serves user 1000", removal())
        try removal(1001).run()
        withExtendedLifetime(lock) {}
    }

    @Test(arguments: ["stores", "authorities"])
    func aRunningServiceIsNotDisturbed(place: String) throws {
        let lock = try FolderLock.share(root.path + "/" + place)
        try expectRefusal(
            .storeReadOnly, place == "stores" ? "latchkeyd is running" : "latchkey-authd is running", removal())
        try expectRefusal(.storeReadOnly, "systemctl stop latchkeyd.socket", removal())
        withExtendedLifetime(lock) {}
    }

    @Test func severalServicesShareTheLock() throws {
        let first = try FolderLock.share(stores)
        let second = try FolderLock.share(stores)
        #expect(try FolderLock.takeAlone(stores) == nil)
        withExtendedLifetime((first, second)) {}
    }

    @Test(arguments: ["stores", "authorities"], ["root.key", "passcodes", "other"])
    func aLinkInTheFolderIsNotFollowed(place: String, name: String) throws {
        let outside = root.path + "/outside"
        try Files.replace(outside, with: SecretBytes("precious".utf8))
        let link = "\(root.path)/\(place)/1000/\(name)"
        Files.remove(link)
        try manager.createSymbolicLink(atPath: link, withDestinationPath: outside)
        try expectRefusal(.notPermitted, "\(place)/1000/\(name) is not a file", removal())
        #expect(manager.contents(atPath: outside) == Data("precious".utf8))
    }

    @Test(arguments: ["stores", "authorities"])
    func aLinkInPlaceOfTheFolderIsNotFollowed(place: String) throws {
        let path = "\(root.path)/\(place)/1000"
        try manager.moveItem(atPath: path, toPath: root.path + "/elsewhere")
        try manager.createSymbolicLink(atPath: path, withDestinationPath: root.path + "/elsewhere")
        try expectRefusal(.notPermitted, "\(place)/1000 is not a folder", removal())
    }

    @Test func aFileWithASecondNameIsNotOverwritten() throws {
        try manager.linkItem(atPath: stores + "/1000/root.key", toPath: root.path + "/second")
        try expectRefusal(.notPermitted, "root.key is not a file with one name", removal())
    }

    @Test func aFolderInTheFolderIsRefused() throws {
        try manager.createDirectory(atPath: stores + "/1000/more", withIntermediateDirectories: false)
        try expectRefusal(.notPermitted, "1000/more is not a file", removal())
    }

    @Test func aFolderOfAnotherUserIsRefused() throws {
        try expectRefusal(.notPermitted, "stores is not a folder", removal(owner: geteuid() + 1))
    }

    @Test func aFileThatOthersCanChangeIsRefused() throws {
        #expect(chmod(stores + "/1000/keychain.sqlite", 0o622) == 0)
        try expectRefusal(.notPermitted, "keychain.sqlite is not a file", removal())
    }

    @Test func aUserWithoutAKeychainIsNotFound() throws {
        try expectRefusal(.itemNotFound, "User 1002 has no keychain", removal(1002))
    }

    /// A crash may have removed one folder, or the first files of a folder.
    @Test(arguments: [["stores/1000"], ["authorities/1000"], ["stores/1000/root.key", "stores/1000/anchor"]])
    func aRemovalThatWasInterruptedIsCompleted(removed: [String]) throws {
        for path in removed { try manager.removeItem(atPath: root.path + "/" + path) }
        try removal().run()
        #expect(!Files.exists(stores + "/1000") && !Files.exists(authorities + "/1000"))
    }

    // MARK: - Tier tpm

    /// A user with a counter and a passcode in a TPM; the places that name it, and the TPM.
    private func inTPM() throws -> (UserIndices.Places, SwitchedTPM) {
        let tpm = try SwitchedTPM()
        let places = UserIndices.Places(
            configuration: root.path + "/latchkeyd.conf", machine: root.path + "/machine-id")
        try Files.replace(
            places.configuration, with: SecretBytes("tier = tpm\ntpm = \(tpm.path)\n".utf8))
        try Files.replace(
            places.machine, with: SecretBytes("0123456789abcdef0123456789abcdef\n".utf8))
        let (clock, random) = (SystemClock(), SystemRandomSource())
        let chip = TPMChip(TPMPlace(tpm.path), clock: clock, random: random)
        for user in [1000, 1001] as [UInt32] {
            let folder = StoreFolder(root.path + "/vault")
            let vault = TPMKeyVault(
                FileKeyVault(folder), rootKey: folder.rootKey, chip: chip,
                owner: try TPMKeyVault.owner(user, machine: places.machine))
            _ = try vault.counter?.create()
            let passcodes = TPMPasscodeChip(chip, random: random)
            let made = try passcodes.create(passcodes.plan(), SecretBytes([UInt8](repeating: 1, count: 32)))
            Files.remove("\(authorities)/\(user)/account")
            Files.remove("\(authorities)/\(user)/counters")
            Files.remove("\(authorities)/\(user)/passcodes")
            let authority = try AuthorityFolder(
                "\(authorities)/\(user)", userID: user, account: #require(AccountName("ada")), clock: clock,
                random: random)
            try authority.persist(
                PasscodeRecords(
                    current: PasscodeRecord(
                        cost: 10, salt: [UInt8](repeating: 1, count: 16), passcodeID: [UInt8](repeating: 2, count: 16),
                        chip: made.record)))
        }
        return (places, tpm)
    }

    private func removal(_ places: UserIndices.Places) -> UserRemoval {
        UserRemoval(
            1000, storeOwner: geteuid(), authorityOwner: geteuid(), stores: stores, authorities: authorities,
            tpm: places)
    }

    /// The number of indices of counters and of passcodes (`TPM2_GetCapability` of `TPM_CAP_HANDLES`).
    private func indices(_ tpm: SwitchedTPM) throws -> [Int] {
        try ([0x4c, 0x4d] as [UInt8]).map { range in
            let chip = try TPMPlace(tpm.path).connect()
            let answer = try chip.exchange(
                [0x80, 1, 0, 0, 0, 22, 0, 0, 1, 0x7a, 0, 0, 0, 1, 1, 0x81, range, 0, 0, 0, 0, 100])
            return stride(from: 19, to: answer.count, by: 4).filter { answer[$0 + 2] == range }.count
        }
    }

    @Test(.needs(.softwareTPM)) func theIndicesOfTheUserAreRemovedFromTheTPMAndNoOthers() throws {
        let (places, tpm) = try inTPM()
        #expect(try indices(tpm) == [2, 2])
        #expect(try removal(places).run().isEmpty)
        #expect(try indices(tpm) == [1, 1])
        #expect(!Files.exists(stores + "/1000") && !Files.exists(authorities + "/1000"))
    }

    @Test(.needs(.softwareTPM)) func whatCannotBeRemovedFromTheTPMIsReportedAndStopsNothing() throws {
        let (places, tpm) = try inTPM()
        tpm.cutPower()
        let remaining = try removal(places).run()
        #expect(remaining.count == 2)
        for (failure, name) in zip(remaining, ["index of the passcode", "counter of the keychain"]) {
            #expect(failure.message.contains("The \(name) may remain in the TPM: "), "\(failure)")
        }
        #expect(!Files.exists(stores + "/1000") && !Files.exists(authorities + "/1000"))
    }

    @Test func aUserIsANumberOrTheNameOfAnAccount() throws {
        #expect(try RemoveUser.userID("4000000000") == 4_000_000_000)
        #expect(try RemoveUser.userID("root") == 0)
        for word in ["", "+5", "-1", "4294967296", "no such account"] {
            #expect(throws: Failure(.itemNotFound), "\(word)") { try RemoveUser.userID(word) }
        }
    }
}
