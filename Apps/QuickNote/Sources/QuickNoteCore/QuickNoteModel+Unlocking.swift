// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import LocalAuthentication

/// Unlocking: by biometry where it is trusted, otherwise by the password.
extension QuickNoteModel {
    /// Unlocks with biometry where it is trusted; otherwise, and after any failure, prompts for the password.
    public func unlock() async {
        guard phase == .locked, !isBusy else { return }
        let turn = turn
        await busily {
            isAboutToAsk = true
            await look()
            isAboutToAsk = false
            guard turn == self.turn else { return }
            // The password would not open it either.
            guard !isKeychainLocked else { return report(.notNow) }
            let flow = newFlow()
            self.flow = flow
            guard case .biometry = flow.step else { return showPassword() }
            // One button for the password, which is there before the first try as well.
            var options = AuthenticationOptions.biometry(reason: "unlock your notes", fallbackTitle: "")
            options.cancelTitle = "Use Password"
            let auth = auth
            let asking = Task {
                do throws(AuthenticationFailure) {
                    return Result<KeychainPrompt, AuthenticationFailure>.success(try await auth.authenticate(options))
                } catch {
                    return .failure(error)
                }
            }
            self.asking = asking
            let outcome = await asking.value
            self.asking = nil
            switch outcome {
            case .success(let proof):
                let key = try? await vault.open(proof: proof)
                guard turn == self.turn else { return }
                guard let key else {
                    // The enrolment changed between the two calls, or the item was deleted: only the password unlocks.
                    self.flow = FallbackFlow(ways: .biometry, support: support, demandsPassword: true)
                    return showPassword()
                }
                self.flow?.succeeded()
                await open(key, turn)
            case .failure(let failure):
                guard turn == self.turn else { return }
                self.flow?.failed(failure)
                couldAsk = failure.code != .notInteractive
                await look()
                showPassword()
            }
        }
    }

    /// Prompts for the password; cancels a biometric prompt.
    public func askForPassword() {
        guard phase == .locked else { return }
        if asking != nil || isAboutToAsk {
            // Invalidates the result of the biometric prompt.
            turn += 1
            asking?.cancel()
        }
        flow = flow ?? newFlow()
        flow?.choosePassword()
        showPassword()
    }

    private func newFlow() -> FallbackFlow {
        FallbackFlow(
            ways: .biometry, support: support, demandsPassword: support.biometry != nil && !isBiometryTrusted)
    }

    private func showPassword() {
        guard let flow, case .password(let reason) = flow.step else { return }
        passwordPrompt = PasswordPrompt(
            reason, sensor: support.sensor, couldAsk: couldAsk, hasEnrolmentChanged: hasEnrolmentChanged,
            wrongTries: flow.wrongPasswords)
    }

    /// Cancels the prompt for the password.
    public func cancelPassword() {
        passwordPrompt = nil
        flow = nil
    }

    /// Unlocks with a password; reports a wrong one in the prompt.
    public func submitPassword(_ password: String) async {
        guard phase == .locked, !isCheckingPassword else { return }
        askForPassword()
        let turn = turn
        isCheckingPassword = true
        defer { isCheckingPassword = false }
        await busily {
            do throws(QuickNoteError) {
                let key = try await vault.open(password: password)
                flow?.passwordTried(isRight: true)
                await trust(key)
                await open(key, turn)
            } catch {
                guard turn == self.turn else { return }
                guard error == .wrongPassword || error == .unusablePassword else {
                    passwordPrompt?.error = error.plainWords
                    return
                }
                flow?.passwordTried(isRight: false)
                showPassword()
                passwordPrompt?.error = error.plainWords
            }
        }
    }

    /// Lets biometry unlock from now on; must be called only after the right password was entered.
    func trust(_ key: NoteKey) async {
        await look()
        guard support.biometry != nil, !isBiometryTrusted else { return }
        let monitor = monitor
        do throws(QuickNoteError) {
            guard try await vault.armBiometry(key) else { return }
            isBiometryTrusted = await KeychainStore.inBackground { (try? monitor.trustCurrent()) ?? false }
        } catch {
            // The notes are unlocked even so; the next unlock requires the password again.
            report(error)
        }
    }

    /// Unlocks the notes, unless `turn` is no longer current.
    func open(_ key: NoteKey, _ turn: Int) async {
        var book = Notebook(key: key)
        do throws(QuickNoteError) {
            let sealed = try await store.all()
            guard turn == self.turn, notebook == nil else { return }
            book.take(kept)
            book.merge(sealed)
        } catch {
            // A partial list would look like lost notes. The next attempt starts from the beginning.
            flow = nil
            return report(error)
        }
        if !kept.isEmpty, message == Self.keptWords { message = nil }
        kept = []
        lastChange = book.isDirty ? setup.clock.elapsed : nil
        notebook = book
        passwordPrompt = nil
        flow = nil
        phase = .unlocked
        touch()
        if book.unreadable > 0 {
            message =
                book.unreadable == 1
                ? "One note cannot be read, because its key was deleted or it is damaged. It was not deleted."
                : "\(book.unreadable) notes cannot be read, because their key was deleted or they are damaged. "
                    + "They were not deleted."
        }
    }
}
