// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import LatchkeyService
import SQLiteDriver
import SimulatedDriver
import SystemDriver
import TestSupport

/// An access control, without constraints by default.
func rule(_ accessibility: Accessibility, _ constraints: AccessConstraints = []) -> AccessControl {
    AccessControl(accessibility: accessibility, constraints: constraints)
}

/// The text attributes of a password.
func named(_ account: String, service: String = "service", group: String? = nil) -> Attributes {
    var attributes: Attributes = [.account: .text(account), .service: .text(service)]
    if let group { attributes[.accessGroup] = .text(group) }
    return attributes
}

extension Keychain {
    /// A keychain in memory.
    static func inMemory(_ clock: any Clock = VirtualClock()) throws -> Keychain {
        let random = SystemRandomSource()
        let store = try SQLiteItemStore.inMemory()
        let vault = MemoryKeyVault(rootKey: try random.bytes(32))
        try StoreOnDisk.identity.create(in: store, vault: vault, random: random)
        return try StoreOnDisk.identity.open(store, vault: vault, clock: clock, random: random)
    }

    /// Adds a password.
    @discardableResult
    func add(
        _ account: String, _ secret: String? = "secret", _ rule: AccessControl = AccessControl(),
        group: String? = nil, returns: Returns = []
    ) throws(Failure) -> FoundItem? {
        let request = Request.AddItem(
            attributes: named(account, group: group), accessControl: rule, secret: secret.map { SecretBytes($0.utf8) },
            returns: returns)
        return try add(request, caller: StoreOnDisk.caller)
    }

    /// Finds passwords; nil when proofs are missing.
    func find(
        _ query: ItemQuery, proof: Authorisation = .none, returns: Returns = .data, caller: Caller = StoreOnDisk.caller
    ) throws(Failure) -> [FoundItem]? {
        let request = Request.CopyItems(query, limit: .all, returns: returns)
        var found: [FoundItem] = []
        let result = try search(request, caller: caller, proof: proof, used: { _ in }, emit: { found.append($0) })
        return result == .finished ? found : nil
    }

    /// Returns the secret of an account as text; nil when proofs are missing.
    func secret(_ account: String, proof: Authorisation = .none) throws(Failure) -> String? {
        try find(ItemQuery(itemClass: .genericPassword, attributes: named(account)), proof: proof)?.first?.secret
            .map { String(decoding: $0.copyBytes(), as: UTF8.self) }
    }

    /// Changes the secret of an account, or the attributes in `changes`.
    func update(
        _ query: ItemQuery, _ changes: Attributes = [:], secret: String? = nil, rule: AccessControl? = nil,
        proof: Authorisation = .none
    ) throws(Failure) -> SearchResult {
        let request = Request.UpdateItems(
            query, changes: changes, accessControl: rule, secret: secret.map { SecretBytes($0.utf8) })
        return try update(request, caller: StoreOnDisk.caller, proof: proof)
    }
}

extension Authorisation {
    /// A proof of the passcode for the caller of the tests.
    static var ofPasscode: Authorisation { .testOnly([.passcode], by: StoreOnDisk.caller) }
}

extension ItemQuery {
    /// A query for the password of an account.
    static func account(_ account: String) -> ItemQuery {
        ItemQuery(itemClass: .genericPassword, attributes: named(account))
    }

    /// A query for the item of a persistent reference.
    static func reference(_ bytes: [UInt8]?) -> ItemQuery {
        ItemQuery(itemClass: nil, persistentReference: bytes ?? [])
    }
}

extension Keychain {
    /// Sets the first passcode.
    func setPasscode(_ passcode: SecretBytes) throws(Failure) {
        try setPasscode(.stretched(stretched(passcode)), caller: StoreOnDisk.caller)
    }

    /// Changes the passcode; its key must be in memory.
    func changePasscode(to passcode: SecretBytes) throws(Failure) {
        try changePasscode(to: .stretched(stretched(passcode)), caller: StoreOnDisk.caller, proof: .ofPasscode)
    }

    /// Stretches a new passcode on the test's thread.
    func stretched(_ passcode: SecretBytes) throws(Failure) -> StretchedPassword {
        try StretchedPassword(passcode, newPasscodeStretching())
    }
}
