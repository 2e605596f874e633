// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// Sealing for a passcode what was added before it: what cannot be sealed holds up nothing else, and what needs no seal
/// causes no write.
@Suite struct PasscodeSealingSliceTests {
    private let store: StoreOnDisk
    private let keychain: Keychain

    init() throws {
        store = try StoreOnDisk()
        keychain = try store.open()
    }

    private func addKey(_ label: String, _ accessibility: Accessibility = .whenUnlocked) throws {
        _ = try keychain.addKey(
            Request.CreateEnclaveKey(
                attributes: [.label: .text(label), .applicationTag: .text(label)],
                accessControl: rule(accessibility, [.devicePasscode, .privateKeyUsage]), isPermanent: true,
                authentication: Authentication()),
            blob: SecretBytes([1]), publicKey: [4] + Array(label.utf8), caller: StoreOnDisk.caller)
    }

    /// How the secrets of all rows are sealed, in the order in which they were added.
    private func forms() throws -> [RowKeyForm?] {
        try store.rows().map { $0.secret?.first.flatMap(RowKeyForm.init) }
    }

    @Test func aKeyWhoseModuleDemandsThePasscodeCausesNoWrite() throws {
        try addKey("key")
        try keychain.setPasscode(PasscodeSealingTests.passcode)
        try keychain.moveAnchor(isTimed: false)
        #expect(!keychain.isAnchoringDue)
        #expect(try keychain.sealForPasscode(after: .min) { _ in true } == nil)
        #expect(!keychain.isAnchoringDue, "nothing was written, so the store generation stays")
        #expect(try forms() == [.plain])
    }

    @Test func aKeyThatIsLeftAsItIsHoldsUpNothingElse() throws {
        try keychain.add("before", "secret", rule(.whenUnlocked, .devicePasscode))
        try addKey("of another module")
        try addKey("of this module")
        try keychain.add("behind", "secret", rule(.whenUnlocked, .devicePasscode))
        try keychain.setPasscode(PasscodeSealingTests.passcode)
        var isFirst = true
        let next = try keychain.sealForPasscode(after: .min) { _ in
            defer { isFirst = false }
            return isFirst
        }
        #expect(next == nil)
        // The keys are asked for from the last one on.
        #expect(try forms() == [.passcode, .passcode, .plain, .passcode])
    }

    @Test func aLockInBetweenLeavesRowsOfItsClassAndSealsTheOthers() throws {
        try keychain.add("unlocked", "secret", rule(.whenUnlocked, .devicePasscode))
        try keychain.add("always", "secret", rule(.afterFirstUnlock, .devicePasscode))
        try addKey("key")
        try keychain.setPasscode(PasscodeSealingTests.passcode)
        let lock = { keychain.tree.apply(LockState(isLocked: true, wasUnlocked: true)) }
        let next = try keychain.sealForPasscode(after: .min) { _ in
            lock()
            return false
        }
        #expect(next == nil)
        #expect(try forms() == [.plain, .passcode, .plain])
        keychain.tree.apply(LockState())
        try keychain.sealForPasscode()
        #expect(try forms() == [.passcode, .passcode, .passcode])
    }
}
