// SPDX-License-Identifier: Apache-2.0

import KeyFileDriver
import LatchkeyHost
import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import SQLiteDriver
import SimulatedDriver
import SystemDriver
import TestSupport

/// A rule without constraints.
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
    /// A keychain that lasts as long as the test.
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
            itemClass: .genericPassword, attributes: named(account, group: group), accessControl: rule,
            secret: secret.map { SecretBytes($0.utf8) }, returns: returns, authentication: Authentication())
        return try add(request, caller: StoreOnDisk.caller)
    }

    /// Finds passwords; nil stands for what has to be proven first.
    func find(
        _ query: ItemQuery, proof: Authorisation = .none, returns: Returns = .data, caller: Caller = StoreOnDisk.caller
    ) throws(Failure) -> [FoundItem]? {
        let request = Request.CopyItems(query: query, limit: 0, returns: returns, authentication: Authentication())
        var found: [FoundItem] = []
        let result = try search(request, caller: caller, proof: proof, used: { _ in }, emit: { found.append($0) })
        return result == .finished ? found : nil
    }

    /// The secret of an account as text; nil when something has to be proven first.
    func secret(_ account: String, proof: Authorisation = .none) throws(Failure) -> String? {
        try find(ItemQuery(itemClass: .genericPassword, attributes: named(account)), proof: proof)?.first?.secret
            .map { String(decoding: $0.copyBytes(), as: UTF8.self) }
    }

    /// Changes the password of an account, or whatever `changes` names.
    func update(
        _ query: ItemQuery, _ changes: Attributes = [:], secret: String? = nil, rule: AccessControl? = nil,
        proof: Authorisation = .none
    ) throws(Failure) -> SearchResult {
        let request = Request.UpdateItems(
            query: query, changes: changes, accessControl: rule, secret: secret.map { SecretBytes($0.utf8) },
            authentication: Authentication())
        return try update(request, caller: StoreOnDisk.caller, proof: proof)
    }
}

extension Authorisation {
    /// The passcode, proven for the caller of the tests.
    static var ofPasscode: Authorisation { .testOnly([.passcode], by: StoreOnDisk.caller) }
}

extension ItemQuery {
    /// One password.
    static func account(_ account: String) -> ItemQuery {
        ItemQuery(itemClass: .genericPassword, attributes: named(account))
    }

    /// The item of a persistent reference.
    static func reference(_ bytes: [UInt8]?) -> ItemQuery {
        ItemQuery(itemClass: nil, persistentReference: bytes ?? [])
    }
}

/// What `body` fails with.
func status(_ body: () throws -> Void) -> Status? {
    do {
        try body()
        return nil
    } catch {
        return (error as? Failure)?.status
    }
}

extension Keychain {
    /// Sets a first passcode.
    func setPasscode(_ passcode: SecretBytes) throws(Failure) {
        try setPasscode(stretched(passcode), caller: StoreOnDisk.caller)
    }

    /// Changes the passcode, whose key is in memory.
    func changePasscode(to passcode: SecretBytes) throws(Failure) {
        try changePasscode(to: stretched(passcode), caller: StoreOnDisk.caller, proof: .ofPasscode)
    }

    /// A new passcode, stretched on the thread of the test.
    func stretched(_ passcode: SecretBytes) throws(Failure) -> StretchedPassword {
        try StretchedPassword(passcode, newPasscodeStretching())
    }
}
