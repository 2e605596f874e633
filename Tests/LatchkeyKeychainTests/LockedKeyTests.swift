// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Synchronization
import Testing

@testable import LatchkeyKeychain

/// A lock wipes keys, and a key that was derived concurrently is not stored afterwards.
@Suite struct LockedKeyTests {
    private static let passcode = SecretBytes("1234".utf8)
    private let store: StoreOnDisk

    init() throws {
        store = try StoreOnDisk()
        try store.open().setPasscode(Self.passcode)
    }

    @Test func aLockDuringStretchingKeepsTheKeyOutOfMemory() throws {
        let keychain = try store.open()
        let count = keychain.tree.lockCount
        #expect(try keychain.unlock(Self.passcode))
        let key = try #require(keychain.tree.passcodeSecret)
        keychain.tree.apply(LockState(isLocked: true, wasUnlocked: true))
        keychain.tree.apply(LockState())
        keychain.tree.hold(key, since: count)
        #expect(!keychain.tree.holdsPasscodeKey)
    }

    /// Derives class keys on one thread while another locks and unlocks: after a lock, no key is in memory.
    @Test func noClassKeyIsStoredAfterALock() throws {
        let tree = try store.open().tree
        let hasEnded = Atomic(false)
        let deriving = Atomic(true)
        Processes.detachThread {
            while !hasEnded.load(ordering: .acquiring) { _ = try? tree.classKey(.whenUnlocked) }
            deriving.store(false, ordering: .releasing)
        }
        var left = 0
        for _ in 1...20_000 {
            tree.apply(LockState())
            tree.apply(LockState(isLocked: true, wasUnlocked: true))
            if tree.classesInMemory.contains(.whenUnlocked) { left += 1 }
            sched_yield()
            if tree.classesInMemory.contains(.whenUnlocked) { left += 1 }
        }
        hasEnded.store(true, ordering: .releasing)
        while deriving.load(ordering: .acquiring) { sched_yield() }
        #expect(left == 0)
    }
}
