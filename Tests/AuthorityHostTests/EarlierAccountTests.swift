// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeyService
import SimulatedDriver
import SystemDriver
import TestPromises
import TestSupport
import Testing

/// An account that has the user number of a deleted account gets nothing of it, and nothing is deleted.
@Suite struct EarlierAccountTests {
    private let disk: TwoServices.Disk
    private static let query = ItemQuery(itemClass: .genericPassword)
    private static let sensor = WorldState(sensor: .none)

    /// Stores an item and a passcode for the account `ada`, and a try that failed.
    init() throws {
        let machine = try TwoServices(Self.sensor)
        disk = machine.disk
        #expect(machine.setPasscode("abcdef") == [.done])
        let session = machine.session()
        let attributes: Attributes = [.account: .text("mail"), .service: .text("example.org")]
        let add = Request.AddItem(attributes: attributes, secret: SecretBytes("word".utf8))
        #expect(machine.answers(session, .addItem(add))().compactMap(\.status).isEmpty)
        #expect(Self.count(machine, session) == 1)
        let replies = machine.evaluate(in: session)
        machine.world.perform(.passcode(SecretBytes("abcdeg".utf8)))
        machine.world.perform(.cancel)
        #expect(replies().count == 1)
        #expect(machine.authority.state.passcodeFailures == 1)
    }

    private static func count(_ machine: TwoServices, _ session: Session) -> Int? {
        let request = Request.CopyItems(query, limit: .all, returns: .attributes)
        guard case .items(let items, _)? = machine.answers(session, .copyItems(request))().last else { return nil }
        return items.count
    }

    private static func failure(_ replies: [Reply]) -> Failure? {
        guard case .failure(let failure)? = replies.last else { return nil }
        return failure
    }

    private func files() throws -> [String: Data] {
        let folder = disk.folder.path + "/\(TwoServices.userID)"
        return try FileManager.default.contentsOfDirectory(atPath: folder).reduce(into: [:]) { files, name in
            files[name] = try Data(contentsOf: URL(filePath: folder + "/" + name))
        }
    }

    @Test func theSameAccountFindsItsItemsAndItsTriesAgain() throws {
        let machine = try TwoServices(Self.sensor, after: disk)
        #expect(Self.count(machine, machine.session()) == 1)
        #expect(machine.authority.state.passcodeFailures == 1 && machine.authority.state.isPasscodeSet)
    }

    @Test func anotherAccountWithTheSameNumberReadsNothing() throws {
        let machine = try TwoServices(Self.sensor, account: "bob", after: disk)
        let requests: [Request] = [
            .listItems(Self.query), .deleteItems(Self.query), .passcode(.setAtPrompt), .passcode(.remove),
        ]
        for request in requests {
            let failure = try #require(Self.failure(machine.answers(machine.session(), request)()), "\(request)")
            #expect(failure.status == .storeOfEarlierAccount, "\(request)")
            #expect(failure.message.contains("earlier account ada") && failure.message.contains("now bob"))
            #expect(failure.hint.contains("latchkey admin remove-user 1000"))
        }
    }

    @Test func anotherAccountWithTheSameNumberDeletesNothing() throws {
        let before = try files()
        #expect(Set(before.keys) == ["account", "counters", "passcodes"])
        let other = try TwoServices(Self.sensor, account: "bob", after: disk)
        _ = other.answers(other.session(), .deleteItems(Self.query))
        _ = other.setPasscode("uvwxyz")
        #expect(try files() == before)
        let machine = try TwoServices(Self.sensor, after: disk)
        #expect(Self.count(machine, machine.session()) == 1)
    }

    /// The passcode of an earlier account is not used for a new store either, and its tries are not inherited.
    @Test func recordsOfAnEarlierAccountAreNotUsedWithANewStore() throws {
        let before = try files()
        let machine = try TwoServices(Self.sensor, account: "bob", after: disk, retainingStore: false)
        #expect(!machine.authority.state.isPasscodeSet && machine.authority.state.passcodeFailures == 0)
        let failure = try #require(Self.failure(machine.setPasscode("uvwxyz")))
        #expect(failure.status == .storeOfEarlierAccount)
        #expect(failure.hint.contains("latchkey admin remove-user"))
        #expect(try files() == before)
    }

    @Test func anAuthorityFolderWithoutItsAccountIsRefused() throws {
        let path = disk.folder.path + "/\(TwoServices.userID)"
        try FileManager.default.removeItem(atPath: path + "/account")
        let before = try files()
        let name = try #require(AccountName("ada"))
        #expect(throws: Failure(.storeUnreadable)) {
            try AuthorityFolder(
                path, userID: TwoServices.userID, account: name, clock: VirtualClock(), random: SystemRandomSource())
        }
        #expect(try files() == before)
    }

    @Test func aChangedNameInAnAuthorityFolderIsRefused() throws {
        let path = disk.folder.path + "/\(TwoServices.userID)"
        var bytes = try #require(try files()["account"])
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: URL(filePath: path + "/account"))
        let name = try #require(AccountName("ada"))
        #expect(throws: Failure(.storeUnreadable)) {
            try AuthorityFolder(
                path, userID: TwoServices.userID, account: name, clock: VirtualClock(), random: SystemRandomSource())
        }
    }

    @Test(.promise("version.authd")) func aFileOfAnotherVersionIsRefused() throws {
        let path = disk.folder.path + "/\(TwoServices.userID)"
        let name = try #require(AccountName("ada"))
        for file in ["account", "passcodes"] {
            let bytes = try #require(try files()[file])
            // The first line names the format and its version, such as `latchkey account 1`.
            let version = try #require(bytes.firstIndex(of: UInt8(ascii: "1")))
            var changed = bytes
            changed[version] = UInt8(ascii: "2")
            try changed.write(to: URL(filePath: path + "/" + file))
            #expect(throws: Failure(.storeUnreadable), "\(file)") {
                let folder = try AuthorityFolder(
                    path, userID: TwoServices.userID, account: name, clock: VirtualClock(), random: SystemRandomSource()
                )
                _ = try folder.passcodeRecords()
            }
            try bytes.write(to: URL(filePath: path + "/" + file))
        }
    }

    @Test func namesThatUnicodeConsidersEquivalentAreDifferentAccounts() throws {
        let composed = try #require(AccountName("\u{e9}"))
        let decomposed = try #require(AccountName("e\u{301}"))
        #expect(composed.text == decomposed.text && composed != decomposed)
        #expect(AccountName("") == nil && AccountName(String(repeating: "a", count: 257)) == nil)
    }
}
