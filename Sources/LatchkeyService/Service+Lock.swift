// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy

// The lock of the device: prompts end, proofs and keys leave memory.

extension Service {
    /// Locks; nobody is asked until it is unlocked, and only items of the `Always` and `AfterFirstUnlock` classes are
    /// read.
    func lock() {
        forgetProofs()
        authenticator.post(.locked)
        guard case .success(let keychain) = parts.keychain else { return }
        follow(LockState(isLocked: true, wasUnlocked: keychain.tree.lockState.wasUnlocked), keychain)
    }

    /// Unlocks, unless policy does not believe in a match.
    func unlock(byBiometry: Bool) {
        authenticator.post(.unlocked(byBiometry: byBiometry)) { [self] in
            guard !authenticator.state.isLocked, case .success(let keychain) = parts.keychain else { return }
            follow(LockState(), keychain)
            // A simulated machine knows what was typed to unlock it.
            if !byBiometry, let passcode = parts.controls?.knownPasscode { _ = try? keychain.tree.unlock(passcode) }
        }
    }

    private func follow(_ state: LockState, _ keychain: Keychain) {
        guard keychain.tree.lockState != state else { return }
        keychain.tree.follow(state)
        // In memory it holds at once; on the disk before anything that is written later.
        parts.work.submit(.any) { try? keychain.keep(state) }
    }
}
