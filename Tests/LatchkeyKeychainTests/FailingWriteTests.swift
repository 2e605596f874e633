// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import SQLiteDriver
import SimulatedDriver
import SystemDriver
import TestSupport
import Testing

/// Every write of every operation fails in turn: the store is unchanged afterwards and remains usable.
@Suite struct FailingWriteTests {
    private static let set = EnrolmentSet([UInt8](repeating: 1, count: 16))
    private static let passcode = SecretBytes("1234".utf8)

    /// The operations, on a store with the accounts "one" and "two" and one item of the passcode class.
    enum Operation: CaseIterable, Sendable {
        case add, update, rename, updateAll, delete, deleteAll, setPasscode, removePasscode, apply, lockout

        func callAsFunction(_ keychain: Keychain) throws {
            let all = ItemQuery(itemClass: .genericPassword)
            switch self {
            case .add: try keychain.add("three")
            case .update: _ = try keychain.update(.account("one"), secret: "new")
            case .rename: _ = try keychain.update(.account("one"), [.account: .text("uno")])
            case .updateAll: _ = try keychain.update(all, [.comment: .text("new")])
            case .delete: try keychain.delete(.account("one"), caller: StoreOnDisk.caller)
            case .deleteAll: try keychain.delete(all, caller: StoreOnDisk.caller)
            case .setPasscode: try keychain.changePasscode(to: SecretBytes("4321".utf8))
            case .removePasscode: try keychain.removePasscode(caller: StoreOnDisk.caller, proof: .ofPasscode)
            case .apply: _ = try keychain.apply(FailingWriteTests.set)
            case .lockout: try keychain.recordLockout(caller: nil)
            }
        }
    }

    /// Everything that a caller can read from a keychain.
    private func contents(_ keychain: Keychain) throws -> [String] {
        try keychain.find(ItemQuery(itemClass: .genericPassword), returns: [.attributes, .data])?
            .map { item in
                let secret = item.secret.map { String(decoding: $0.copyBytes(), as: UTF8.self) } ?? "-"
                let attributes = (item.attributes ?? [:]).sorted { $0.key.rawValue < $1.key.rawValue }
                return "\(attributes) \(secret)"
            } ?? ["needs a proof"]
    }

    @Test(arguments: Operation.allCases)
    func aFailedWriteChangesNothing_abuse36(operation: Operation) throws {
        let random = SystemRandomSource()
        let store = RecordingStore(try SQLiteItemStore.inMemory())
        let vault = MemoryKeyVault(rootKey: try random.bytes(32))
        try StoreOnDisk.identity.create(in: store, vault: vault, random: random)
        let keychain = try StoreOnDisk.identity.open(store, vault: vault, clock: VirtualClock(), random: random)
        try keychain.setPasscode(Self.passcode)
        for account in ["one", "two"] { try keychain.add(account) }
        try keychain.add("bound", "secret", rule(.whenPasscodeSetThisDeviceOnly))

        let before = try contents(keychain)
        var number = 0
        while true {
            store.fail(at: number)
            let failure = status { try operation(keychain) }
            store.fail(at: nil)
            guard let failure else { break }
            try #require(failure == .diskFull)
            #expect(try contents(keychain) == before, "write \(number)")
            #expect(keychain.isPasscodeSet)
            #expect(try keychain.unlock(Self.passcode), "write \(number)")
            // A daemon that starts now reads the same.
            let reopened = try StoreOnDisk.identity.open(store, vault: vault, clock: VirtualClock(), random: random)
            #expect(try reopened.unlock(Self.passcode))
            #expect(try contents(reopened) == before, "reopened after write \(number)")
            number += 1
        }
        #expect(number >= 1, "the operation wrote nothing")
    }
}
