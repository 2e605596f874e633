// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit

/// Setting, changing and resetting the password.
extension QuickNoteModel {
    /// Sets the first password and unlocks the empty notes.
    public func setPassword(_ password: String, again: String) async {
        guard phase == .firstRun, !isBusy else { return }
        guard password == again else { return report(.passwordsDiffer) }
        let turn = turn
        await busily {
            do throws(QuickNoteError) {
                let key = try await vault.setUp(password: password)
                await trust(key)
                await open(key, turn)
            } catch {
                report(error)
                if error == .alreadySetUp { phase = .locked }
            }
        }
    }

    /// Changes the password; the notes do not change.
    ///
    /// - Returns: whether it was changed; if not, `message` says why.
    @discardableResult
    public func changePassword(from old: String, to new: String, again: String) async -> Bool {
        guard phase == .unlocked, !isBusy else { return false }
        touch()
        guard new == again else {
            report(.passwordsDiffer)
            return false
        }
        return await busily {
            do throws(QuickNoteError) {
                try await vault.changePassword(from: old, to: new)
                return true
            } catch {
                report(error)
                return false
            }
        }
    }

    #if DEBUG
    /// Deletes the password and every note. Only in debug builds.
    public func reset() async {
        turn += 1
        asking?.cancel()
        notebook = nil
        kept = []
        cancelPassword()
        let monitor = monitor
        do throws(QuickNoteError) {
            try await store.removeAll()
            try await vault.destroy()
            _ = await KeychainStore.inBackground { try? monitor.forget() }
        } catch {
            report(error)
        }
        await start()
    }
    #endif
}
