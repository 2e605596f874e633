// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import TestSupport
import Testing

@Suite struct PersistentReferenceTests {
    private let keychain: Keychain
    private let reference: [UInt8]

    init() throws {
        keychain = try Keychain.inMemory()
        let item = try keychain.add("account", returns: .persistentReference)
        reference = try #require(item?.persistentReference)
    }

    @Test func aReferenceHas34BytesAndNamesVersionAndClass() {
        #expect(reference.count == 34)
        #expect(reference.prefix(2) == [1, ItemClass.genericPassword.rawValue])
    }

    @Test func aReferenceFindsItsItem() throws {
        let found = try #require(try keychain.find(.reference(reference)))
        #expect(found.map { $0.secret } == [SecretBytes("secret".utf8)])
    }

    @Test func aReferenceStaysTheSameThroughUpdatesOfThePrimaryKey_KC10() throws {
        let changes: Attributes = [.account: .text("renamed"), .service: .text("moved"), .accessGroup: .text("shared")]
        #expect(try keychain.update(.reference(reference), changes, secret: "new") == .finished)
        let found = try keychain.find(.reference(reference), returns: [.data, .persistentReference, .attributes])
        let item = try #require(found?.first)
        #expect(item.persistentReference == reference)
        #expect(item.secret == SecretBytes("new".utf8))
        #expect(item.attributes?[.account] == .text("renamed"))
    }

    @Test func aReferenceOfADeletedItemFindsNothing_KC10() throws {
        try keychain.delete(.reference(reference), caller: StoreOnDisk.caller)
        #expect(status { _ = try keychain.find(.reference(reference)) } == .itemNotFound)
        try keychain.add("account")
        #expect(status { _ = try keychain.find(.reference(reference)) } == .itemNotFound, "nor the new item")
    }

    @Test func everyChangedByteOfAReferenceFindsNothing() throws {
        for offset in 0..<34 {
            var forged = reference
            forged[offset] ^= 0x40
            let expected: Status = offset < 2 ? .invalidParameter : .itemNotFound
            #expect(status { _ = try keychain.find(.reference(forged)) } == expected, "byte \(offset)")
            #expect(
                status { try keychain.delete(.reference(forged), caller: StoreOnDisk.caller) } == expected,
                "byte \(offset)")
        }
        #expect(try keychain.itemCount() == 1)
    }

    @Test(arguments: [0, 1, 33, 35, 300])
    func aReferenceOfAnotherLengthIsRefused(length: Int) {
        let malformed = Array((reference + [UInt8](repeating: 0, count: 300)).prefix(length))
        #expect(status { _ = try keychain.find(.reference(malformed)) } == .invalidParameter)
    }

    @Test func aReferenceOfAnotherStoreFindsNothing() throws {
        let foreign = try Keychain.inMemory().add("account", returns: .persistentReference)?.persistentReference
        #expect(status { _ = try keychain.find(.reference(foreign)) } == .itemNotFound)
    }

    @Test func aReferenceOfAForeignGroupFindsNothing() throws {
        let stranger = Caller(groups: ["stranger"], label: "stranger", processID: 2, userID: 1000)
        #expect(status { _ = try keychain.find(.reference(reference), caller: stranger) } == .itemNotFound)
        #expect(status { try keychain.delete(.reference(reference), caller: stranger) } == .itemNotFound)
    }

    @Test func aReferenceAllowsNoOtherAttributes_KC10() {
        var query = ItemQuery.reference(reference)
        query.attributes[.account] = .text("account")
        #expect(status { _ = try keychain.find(query) } == .invalidParameter)
    }
}
