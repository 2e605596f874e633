// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy

// The lock of the device: prompts end, proofs and keys leave memory.

extension Service {
    /// Locks; nobody is asked until it is unlocked, and only items of the `Always` and `AfterFirstUnlock` classes are
    /// read. `then` is called when policy knows it too.
    func lock(then: @escaping @Sendable () -> Void = {}) {
        close()
        authenticator.post(.locked) { [self] in
            // What stood in line before the lock, an unlock or a proof that was on its way, has been done meanwhile.
            close()
            then()
        }
    }

    private func close() {
        forgetProofs()
        guard case .success(let keychain) = parts.keychain else { return }
        follow(LockState(isLocked: true, wasUnlocked: keychain.tree.lockState.wasUnlocked), keychain)
    }

    /// Unlocks, unless policy does not believe in a match; `then` is told when that is done, and whether it is open.
    func unlock(byBiometry: Bool, then: @escaping @Sendable (Bool) -> Void = { _ in }) {
        authenticator.post(.unlocked(byBiometry: byBiometry)) { [self] in
            guard !authenticator.state.isLocked else { return then(false) }
            defer { then(true) }
            guard case .success(let keychain) = parts.keychain else { return }
            follow(LockState(), keychain)
            // A simulated machine knows what was typed to unlock it. If it does not fit, the class stays closed.
            if !byBiometry, let passcode = parts.controls?.knownPasscode {
                parts.log.noting(.passcodeNotChecked) { () throws(Failure) in try keychain.unlock(passcode) }
            }
        }
    }

    private func follow(_ state: LockState, _ keychain: Keychain) {
        guard keychain.tree.lockState != state else { return }
        keychain.tree.follow(state)
        // In memory it holds at once; on the disk before anything that is written later.
        parts.work.submit(.any) { [log = parts.log] in
            log.noting(.lockNotKept) { () throws(Failure) in try keychain.keep(state) }
        }
    }
}
