// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy

// Locking and unlocking the device. Locking ends all prompts and removes proofs and keys from memory.

extension Service {
    /// Locks the device: until it is unlocked, only prompts that unlock it are shown, and only items of the `Always`
    /// and `AfterFirstUnlock` classes can be read.
    ///
    /// - Parameter then: called when the reducer has processed the lock.
    func lock(then: @escaping @Sendable () -> Void = {}) {
        close()
        authority.report(.locked) { [self] _ in
            // Events queued before the lock may meanwhile have unlocked the keychain or added proofs.
            close()
            then()
        }
    }

    private func close() {
        forgetProofs()
        refusedWhileLocked.withLock { $0 = [] }
        guard case .success(let keychain) = self.keychain else { return }
        isSessionLock.withLock { isSessionLock in
            let state = LockState(isLocked: true, wasUnlocked: keychain.tree.lockState.wasUnlocked)
            // The lock of a session becomes one that ends at a prompt only, and that is stored.
            let isStored = keychain.tree.lockState == state && !isSessionLock
            isSessionLock = false
            if !isStored { apply(state, keychain) }
        }
    }

    /// Locks the keychain while login sessions are locked. A keychain that was locked before stays so afterwards.
    package func applySessionLock(isLocked: Bool) {
        // Without a keychain no key is in memory.
        guard case .success(let keychain) = self.keychain else { return }
        if isLocked { forgetProofs() }
        isSessionLock.withLock { isSessionLock in
            let state = keychain.tree.lockState
            if isLocked {
                if !state.isLocked { isSessionLock = true }
                keychain.tree.apply(LockState(isLocked: true, wasUnlocked: state.wasUnlocked))
            } else if isSessionLock {
                isSessionLock = false
                keychain.tree.apply(LockState())
                sealForPasscode()
            }
        }
    }

    /// Unlocks the device, unless the reducer ignores the match because biometry cannot be used.
    ///
    /// - Parameter then: called when the reducer has processed the unlock, with whether the device is unlocked.
    func unlock(byBiometry: Bool, then: @escaping @Sendable (Bool) -> Void = { _ in }) {
        authority.report(.unlocked(byBiometry: byBiometry)) { [self] _ in
            guard !authority.state.isLocked else { return then(false) }
            refusedWhileLocked.withLock { $0 = [] }
            defer { then(true) }
            guard case .success(let keychain) = self.keychain else { return }
            isSessionLock.withLock { isSessionLock in
                let isOfSession = isSessionLock
                isSessionLock = false
                // A prompt also ends the lock of a session, until the next one; there is nothing to store then.
                if isOfSession {
                    keychain.tree.apply(LockState())
                } else if keychain.tree.lockState != LockState() {
                    apply(LockState(), keychain)
                } else {
                    return
                }
                // Items of the classes that were locked may not be sealed yet.
                sealForPasscode()
            }
        }
    }

    /// Programs of which an agent is told while the keychain is locked.
    private static let announcedPrograms = 64

    /// Has an agent offer to unlock the keychain, once for each program and lock. The lock of a session ends where that is
    /// unlocked, and without a prompt.
    func announceRefusal(of caller: Caller) {
        guard authority.state.isLocked, !isSessionLock.withLock({ $0 }) else { return }
        let isNew = refusedWhileLocked.withLock { programs in
            programs.count < Self.announcedPrograms && programs.insert(caller.label).inserted
        }
        if isNew { authority.report(.refusedWhileLocked, then: nil) }
    }

    private func apply(_ state: LockState, _ keychain: Keychain) {
        keychain.tree.apply(state)
        // The state applies in memory at once; it is stored before any later write.
        parts.work.submit(.any) { [log = parts.log] in
            log.recording(.lockNotKept) { () throws(Failure) in try keychain.persist(state) }
        }
    }
}
