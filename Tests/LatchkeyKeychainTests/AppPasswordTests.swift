// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// The stretching parameters of an application password are authenticated before the password is stretched.
@Suite struct AppPasswordTests {
    private static let plain = SecretBytes("password".utf8)
    private static let control = rule(.whenUnlocked, .applicationPassword)
    private let store: StoreOnDisk

    init() throws {
        store = try StoreOnDisk()
        let keychain = try store.open()
        let password = try keychain.appPassword(Self.plain, toAdd: Self.control)
        let request = Request.AddItem(
            attributes: named("item"), accessControl: Self.control, secret: SecretBytes([1, 2, 3]))
        _ = try keychain.add(request, caller: StoreOnDisk.caller, password: password)
    }

    private func read(_ keychain: Keychain, _ password: AppPassword) throws -> SearchResult {
        var cursor = SearchCursor()
        return try keychain.search(
            Request.CopyItems(.account("item")),
            caller: StoreOnDisk.caller, proof: .none, password: password, from: &cursor, used: { _ in },
            emit: { _ in })
    }

    private func openItem(_ keychain: Keychain) throws -> (StoredRow, Item) {
        let row = try #require(try store.rows().first)
        return (row, try keychain.envelopes.openAttributes(row))
    }

    @Test func aSearchReturnsStretchingParametersAndOpensTheItemWithTheKey() throws {
        let keychain = try store.open()
        var password = try keychain.appPassword(isGiven: true)
        let expected = try #require(try openItem(keychain).1.stretching)
        #expect(expected.cost == StoreOnDisk.identity.passcodeCost)
        #expect(try read(keychain, password) == .stretch([expected]))
        password.add(try StretchedPassword(Self.plain, expected))
        #expect(try read(keychain, password) == .finished)
    }

    @Test func aWrongPasswordIsRefused() throws {
        let keychain = try store.open()
        var password = try keychain.appPassword(isGiven: true)
        let parameters = try #require(try openItem(keychain).1.stretching)
        password.add(try StretchedPassword(SecretBytes("wrong".utf8), parameters))
        #expect(throws: Failure(.itemAuthenticationFailed)) { try read(keychain, password) }
    }

    @Test func aMissingPasswordFailsWithoutAPrompt_AC05() throws {
        let keychain = try store.open()
        #expect(throws: Failure(.interactionNotAllowed)) { try read(keychain, .none) }
    }

    @Test(arguments: [0, 1])
    func bothSealsOfASecretAreBoundToCostAndSalt(part: Int) throws {
        let keychain = try store.open()
        var (row, item) = try openItem(keychain)
        let old = try #require(item.stretching)
        var salt = old.salt
        salt[0] ^= 1
        let other = try #require(
            part == 0
                ? StretchParameters(cost: old.cost + 1, salt: old.salt)
                : StretchParameters(cost: old.cost, salt: salt))
        // The envelope of the same key with other parameters, as an attacker who has the metadata key could write it.
        item.stretching = other
        row.attributes = try keychain.envelopes.sealAttributes(item, row)
        #expect(
            keychain.envelopes.secretAssociatedData(row, item)
                != keychain.envelopes.secretAssociatedData(row, try openItem(keychain).1))
    }

    @Test(.promise("turns.cost"), arguments: [UInt8(0), 1, 9, 17, 20, 63])
    func aCostThatTheDaemonNeverUsesIsRejected(cost: UInt8) {
        #expect(StretchParameters(cost: cost, salt: [UInt8](repeating: 1, count: 16)) == nil)
    }

    @Test func attributesWithoutStretchingParametersAreDamagedIfAPasswordIsRequired() throws {
        let keychain = try store.open()
        var (row, item) = try openItem(keychain)
        item.stretching = nil
        row.attributes = try keychain.envelopes.sealAttributes(item, row)
        #expect(throws: Failure(.storeUnreadable)) { try keychain.envelopes.openAttributes(row) }
    }

    @Test func anUpdateSealsUnderANewSalt() throws {
        let keychain = try store.open()
        let old = try #require(try openItem(keychain).1.stretching)
        var password = try keychain.appPassword(isGiven: true)
        let request = Request.UpdateItems(.account("item"), changes: [.comment: .text("new")])
        let first = try keychain.update(request, caller: StoreOnDisk.caller, proof: .none, password: password)
        guard case .stretch(let parameters) = first else {
            Issue.record("\(first)")
            return
        }
        #expect(parameters.count == 2 && parameters.contains(old))
        for parameters in parameters { password.add(try StretchedPassword(Self.plain, parameters)) }
        #expect(
            try keychain.update(request, caller: StoreOnDisk.caller, proof: .none, password: password) == .finished)
        #expect(try openItem(keychain).1.stretching != old)
    }

    // MARK: - Files that were changed

    /// The form, the wrapped row key, the sealed secret and its tag.
    @Test(.promise("attacker.edits"), arguments: [0, 5, 30, 65, 80]) func damagedSecretIsToldFromAWrongPassword_KC17(
        offset: Int
    ) throws {
        let parameters = try #require(try openItem(store.open()).1.stretching)
        var row = try #require(try store.rows().first)
        row.secret?[offset] ^= 1
        try store.edit { try $0.replace(row) }
        let keychain = try store.open()
        #expect(try keychain.findings() == [Finding(.secretDamaged, number: row.position, item: row.id)])
        for typed in ["password", "wrong"] {
            var password = try keychain.appPassword(isGiven: true)
            password.add(try StretchedPassword(SecretBytes(typed.utf8), parameters))
            #expect(status { _ = try read(keychain, password) } == .itemNotFound, "\(typed)")
        }
        try keychain.quarantineDamaged()
        #expect(try keychain.quarantinedRows().map(\.row) == [row])
        let finding = try #require(try keychain.findings().first)
        #expect(finding.kind == .quarantined && finding.item == row.id)
        try keychain.add("item", "anew")
        #expect(try keychain.secret("item") == "anew")
    }

    @Test func nameOfADamagedSecretIsFreeWithoutReadingIt_KC17() throws {
        var row = try #require(try store.rows().first)
        row.secret?[70] ^= 1
        try store.edit { try $0.replace(row) }
        let keychain = try store.open()
        try keychain.add("item", "anew")
        #expect(try keychain.secret("item") == "anew")
        #expect(try keychain.quarantinedRows().map(\.row) == [row])
    }

    @Test func damagedSecretIsNotOverwrittenByAnUpdate_KC17() throws {
        let parameters = try #require(try openItem(store.open()).1.stretching)
        var row = try #require(try store.rows().first)
        row.secret?[70] ^= 1
        try store.edit { try $0.replace(row) }
        let keychain = try store.open()
        var password = try keychain.appPassword(isGiven: true)
        password.add(try StretchedPassword(Self.plain, parameters))
        if let sealing = password.sealing { password.add(try StretchedPassword(Self.plain, sealing)) }
        let request = Request.UpdateItems(.account("item"), secret: SecretBytes([4]))
        #expect(
            status { _ = try keychain.update(request, caller: StoreOnDisk.caller, proof: .none, password: password) }
                == .itemNotFound)
        try keychain.quarantineDamaged()
        #expect(try keychain.quarantinedRows().map(\.row) == [row])
    }

    // MARK: - Detached keys

    private func detachedKey(_ keychain: Keychain) throws -> [UInt8] {
        let control = rule(.whenUnlocked, [.privateKeyUsage, .applicationPassword])
        let password = try keychain.appPassword(Self.plain, toAdd: control)
        let key = try keychain.addKey(
            Request.CreateEnclaveKey(
                attributes: [:], accessControl: control, isPermanent: false, authentication: Authentication()),
            blob: SecretBytes([1]), publicKey: [UInt8](repeating: 4, count: 65), caller: StoreOnDisk.caller,
            password: password)
        guard case .detached(let bytes) = key.name else { throw Failure(.internalFailure) }
        return bytes
    }

    @Test(.promise("turns.cost")) func changedBytesOfADetachedKeyNeverChangeTheStretchingParameters() throws {
        let keychain = try store.open()
        let bytes = try detachedKey(keychain)
        let password = try keychain.appPassword(isGiven: true)
        func opening(_ bytes: [UInt8]) throws -> KeyOpening {
            try keychain.openKey(.detached(bytes), caller: StoreOnDisk.caller, proof: .none, password: password)
        }
        guard case .stretch(let parameters) = try opening(bytes) else {
            Issue.record("the key needs no stretching")
            return
        }
        for offset in bytes.indices {
            var changed = bytes
            changed[offset] ^= 1
            // If the attributes still open, the parameters are unchanged; the secret fails authentication later.
            guard let opening = try? opening(changed) else { continue }
            guard case .stretch(parameters) = opening else {
                Issue.record("byte \(offset)")
                continue
            }
        }
    }
}
