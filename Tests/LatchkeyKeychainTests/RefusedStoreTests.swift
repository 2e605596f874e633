// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKeychain
import LatchkeyModel
import LatchkeyService
import TestPromises
import TestSupport
import Testing

/// A store that cannot be used is refused with the right status, and none of its bytes change.
@Suite struct RefusedStoreTests {
    private let store: StoreOnDisk

    init() throws {
        store = try StoreOnDisk()
        do {
            let keychain = try store.open()
            for number in 0..<3 { try keychain.add("account \(number)") }
        }
        try store.settle()
    }

    /// Returns the status with which opening fails; nil when it succeeds, or when it changed a file.
    private func refusal(
        _ identity: StoreIdentity = StoreOnDisk.identity, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Status? {
        let before = try filesThatHoldSomething()
        let refusal = status { _ = try store.open(identity) }
        let after = try filesThatHoldSomething()
        for (name, bytes) in before where after[name] != bytes {
            Issue.record("\(name) was changed", sourceLocation: sourceLocation)
        }
        #expect(Set(after.keys) == Set(before.keys), sourceLocation: sourceLocation)
        return refusal
    }

    private func filesThatHoldSomething() throws -> [String: Data] {
        try store.files().filter { !["keychain.sqlite-wal", "keychain.sqlite-shm"].contains($0.key) }
    }

    private func change(_ name: String, _ body: (inout Data) -> Void) throws {
        var bytes = try #require(try store.files()[name])
        body(&bytes)
        try store.setFile(name, bytes)
    }

    private func setRecord(_ name: String, _ change: ([UInt8]) -> [UInt8]?) throws {
        try store.edit { store in try store.setRecord(name, change(try store.record(name) ?? [])) }
        try store.settle()
    }

    // MARK: - Another tier, user or version

    @Test(arguments: [Tier.tpm, .file, .user])
    func aStoreOfAnotherTierIsRefused(tier: Tier) throws {
        #expect(try refusal(StoreIdentity(tier: tier, userID: 1000)) == .storeOfAnotherTier)
    }

    @Test func aStoreOfAnotherUserIsRefused() throws {
        #expect(try refusal(StoreIdentity(tier: .simulated, userID: 1001)) == .storeOfAnotherUser)
    }

    @Test func aTierSwappedInTheFileFailsAuthentication_abuse33() throws {
        // [version, tier, user, store]: the tier is the third byte.
        try setRecord("header") { $0[..<2] + [Tier.user.rawValue] + $0[3...] }
        #expect(try refusal(StoreIdentity(tier: .user, userID: 1000)) == .storeUnreadable)
        #expect(try refusal() == .storeOfAnotherTier)
    }

    /// The store of the account `ada` in a tier that binds stores to accounts.
    private static func owner(_ account: String?, _ tier: Tier = .file) -> StoreIdentity {
        StoreIdentity(tier: tier, userID: 1000, account: account.flatMap { AccountName($0) }, passcodeCost: 10)
    }

    @Test(arguments: [Tier.file, .tpm])
    func theStoreOfAnEarlierAccountIsRefused(tier: Tier) throws {
        let store = try StoreOnDisk()
        try store.prepare(Self.owner("ada", tier))
        try store.open(Self.owner("ada", tier)).add("account")
        try store.settle()
        let before = try store.files()
        do {
            _ = try store.open(Self.owner("bob", tier))
            Issue.record("it opened")
        } catch {
            #expect(error.status == .storeOfEarlierAccount)
            #expect(error.message.contains("earlier account ada") && error.message.contains("now bob"))
            #expect(error.hint.contains("latchkey admin remove-user 1000"))
        }
        #expect(status { _ = try store.open(Self.owner(nil, tier)) } == .invalidParameter)
        for name in ["root.key", "anchor", "counters", "keychain.sqlite"] {
            #expect(try store.files()[name] == before[name], "\(name)")
        }
        #expect(try store.open(Self.owner("ada", tier)).secret("account") != nil)
    }

    @Test func anAccountSwappedInTheFileFailsAuthentication_abuse33() throws {
        let store = try StoreOnDisk()
        try store.prepare(Self.owner("ada"))
        // [version, tier, user, store, account]: the account is the last field.
        try store.edit { store in
            let header = try #require(try store.record("header"))
            #expect(header.suffix(4) == [0x63] + Array("ada".utf8))
            try store.setRecord("header", header.dropLast(3) + Array("bob".utf8))
        }
        #expect(status { _ = try store.open(Self.owner("bob")) } == .storeUnreadable)
        #expect(status { _ = try store.open(Self.owner("ada")) } == .storeOfEarlierAccount)
    }

    /// A header has an account if and only if its tier binds stores to accounts.
    @Test func aHeaderWithTheFieldsOfAnotherTierIsRefused() throws {
        let id = [UInt8](repeating: 7, count: 16)
        let header = try StoreHeader(tier: .file, userID: 1000, account: AccountName("ada"), storeID: id)
        #expect(try StoreHeader(decoding: header.bytes) == header)
        let user = try StoreHeader(tier: .user, userID: 1000, account: AccountName("ada"), storeID: id)
        #expect(user.account == nil && user.bytes.first == 0x84)
        // The tier is the third byte.
        var bytes = header.bytes
        bytes[2] = Tier.user.rawValue
        #expect(status { _ = try StoreHeader(decoding: bytes) } == .storeUnreadable)
        bytes = user.bytes
        bytes[2] = Tier.file.rawValue
        #expect(status { _ = try StoreHeader(decoding: bytes) } == .storeUnreadable)
        #expect(status { _ = try StoreHeader(tier: .tpm, userID: 1000, storeID: id) } == .invalidParameter)
        let empty = header.bytes.dropLast(4) + [0x60]
        #expect(status { _ = try StoreHeader(decoding: Array(empty)) } == .storeUnreadable)
    }

    @Test(.promise("version.store-newer")) func aStoreOfANewerVersionIsRefused() throws {
        // user_version: four bytes at 60 of the database's header.
        try change("keychain.sqlite") { $0[63] = 2 }
        #expect(try refusal() == .storeNewer)
    }

    @Test(.promise("version.store-older")) func aStoreOfAnOlderVersionIsRefusedAsOlder() throws {
        try change("keychain.sqlite") { $0[63] = 0 }
        #expect(try refusal() == .storeOlder)
    }

    @Test(.promise("closed.unknown", "version.store-older")) func aHeaderOfAnOlderVersionIsRefusedAsOlder() throws {
        try setRecord("header") { $0[..<1] + [0] + $0[2...] }
        #expect(try refusal() == .storeOlder)
    }

    @Test(.promise("closed.unknown", "version.store-newer")) func aHeaderOfANewerVersionIsRefused() throws {
        try setRecord("header") { $0[..<1] + [2] + $0[2...] }
        #expect(try refusal() == .storeNewer)
    }

    // MARK: - Wrong keys

    @Test(.promise("attacker.database")) func anotherRootKeyIsRefused() throws {
        let other = try StoreOnDisk()
        _ = try other.open()
        try store.setFile("root.key", try other.files()["root.key"])
        #expect(try refusal() == .storeUnreadable)
    }

    @Test(arguments: [0, 1, 15, 16, 47])
    func aTruncatedRootKeyIsRefused(length: Int) throws {
        try change("root.key") { $0 = $0.prefix(length) }
        #expect(try refusal() == .storeUnreadable)
    }

    @Test(.promise("version.root-key")) func aRootKeyOfAnotherFormatIsRefused() throws {
        try change("root.key") { $0.append(0) }
        #expect(try refusal() == .storeUnreadable)
        try change("root.key") { $0 = Data("latchkey root 2\n".utf8) + $0.dropFirst(16).dropLast() }
        #expect(try refusal() == .storeUnreadable)
    }

    @Test(arguments: ["header", "header.code", "slot.automatic"])
    func aFirstRecordThatIsMissingOrChangedIsRefused(name: String) throws {
        let files = try store.files()
        for offset in [0, 5, 11] {
            try setRecord(name) { bytes in
                bytes.enumerated().map { $0.offset == offset ? $0.element ^ 0x10 : $0.element }
            }
            let refusal = try refusal()
            #expect(refusal == .storeUnreadable || name == "header", "byte \(offset): \(String(describing: refusal))")
            #expect(refusal != nil)
            try store.restore(files)
        }
        try setRecord(name) { _ in nil }
        #expect(try refusal() == .storeUnreadable)
    }

    // MARK: - Missing files

    @Test(.promise("abuse.39")) func aMissingDatabaseIsNotReplaced_abuse39() throws {
        try store.setFile("keychain.sqlite", nil)
        #expect(try refusal() == .storeUnreadable)
    }

    @Test(.promise("closed.unknown")) func aMissingRootKeyIsNotReplaced() throws {
        try store.setFile("root.key", nil)
        #expect(try refusal() == .rootKeyMissing)
    }

    /// Returns the status with which a read fails on a store that opens.
    private func refusalOfReading() throws -> Status? {
        let keychain = try store.open()
        return status { _ = try keychain.secret("account") }
    }

    @Test(.promise("anchor.missing")) func aMissingAnchorIsNotReplaced() throws {
        try store.setFile("anchor", nil)
        #expect(try refusalOfReading() == .anchorMissing)
        #expect(try store.files()["anchor"] == nil)
    }

    @Test(arguments: [0, 1, 20, 4096])
    func anAnchorThatCannotBeReadIsNotReplaced(length: Int) throws {
        let bytes = Data(repeating: 0x84, count: length)
        try store.setFile("anchor", bytes)
        #expect(try refusalOfReading() == .anchorMissing)
        #expect(try store.files()["anchor"] == bytes)
    }

    @Test func theAnchorOfAnotherStoreIsRefused() throws {
        let other = try StoreOnDisk()
        _ = try other.open()
        try store.setFile("anchor", try other.files()["anchor"])
        #expect(try refusalOfReading() == .anchorMissing)
    }

    // MARK: - Other files

    @Test func anEmptyDatabaseFileIsNotFilled_abuse39() throws {
        try store.setFile("keychain.sqlite", Data())
        #expect(try refusal() == .storeUnreadable)
    }

    @Test(arguments: ["not a database", String(repeating: "x", count: 100_000)])
    func aFileThatIsNoDatabaseIsLeftAlone(text: String) throws {
        try store.setFile("keychain.sqlite", Data(text.utf8))
        #expect(try refusal() == .storeUnreadable)
    }

    @Test func aDatabaseOfAnotherProgramIsLeftAlone() throws {
        // application_id: four bytes at 68 of the database's header.
        try change("keychain.sqlite") { $0.replaceSubrange(68..<72, with: [0, 0, 0, 0]) }
        #expect(try refusal() == .storeUnreadable)
    }

    @Test func aLinkInPlaceOfTheDatabaseIsNotFollowed() throws {
        let real = store.folder.path + "/elsewhere"
        try FileManager.default.moveItem(atPath: store.folder.database, toPath: real)
        try FileManager.default.createSymbolicLink(atPath: store.folder.database, withDestinationPath: real)
        #expect(try refusal() == .storeUnreadable)
    }

    @Test func aLinkInPlaceOfTheRootKeyIsNotFollowed() throws {
        let real = store.folder.path + "/elsewhere"
        try FileManager.default.moveItem(atPath: store.folder.rootKey, toPath: real)
        try FileManager.default.createSymbolicLink(atPath: store.folder.rootKey, withDestinationPath: real)
        #expect(try refusal() == .storeUnreadable)
    }

    @Test func theFailureSaysWhatToDo() throws {
        try store.setFile("keychain.sqlite", nil)
        do {
            _ = try store.open()
            Issue.record("it opened")
        } catch {
            #expect(error.message.contains("keychain.sqlite is missing"))
            #expect(error.hint.contains("backup"))
        }
    }
}
