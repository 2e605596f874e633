// SPDX-License-Identifier: Apache-2.0

import Foundation
public import LatchkeyKit
import LocalAuthentication
public import Observation

/// The whole app without a window: a front draws its properties and calls its functions.
///
/// While the notes are locked, no text of a note is in memory, nor the key that opens them. A text that could not be
/// saved before locking is kept sealed and comes back with the next unlocking.
@MainActor
@Observable
public final class QuickNoteModel {
    /// Where the app stands.
    public private(set) var phase = Phase.starting
    /// What biometry can do, as of the last look.
    public private(set) var support = BiometrySupport.none
    /// The question for the password, when it is to be shown over the locked notes.
    public private(set) var passwordPrompt: PasswordPrompt?
    /// Whether something is under way that a person waits for: a prompt, or the keychain.
    public var isBusy: Bool { underWay > 0 }
    private var underWay = 0
    /// What went wrong last, in words; the front shows it until `dismissMessage`.
    public internal(set) var message: String?

    /// The notes; nil while they are locked. Nothing else holds a text.
    var notebook: Notebook?

    @ObservationIgnored let setup: QuickNoteSetup
    @ObservationIgnored let store: NoteStore
    @ObservationIgnored private let vault: NoteVault
    @ObservationIgnored private let monitor: EnrollmentMonitor
    @ObservationIgnored private let auth: BiometricAuth
    @ObservationIgnored private var flow: FallbackFlow?
    /// Whether biometry may unlock: the key is behind it, and what is enrolled is what was trusted.
    private var isBiometryTrusted = false
    @ObservationIgnored private var hasEnrolmentChanged = false
    /// Whether there was a place to ask for biometry, when that was tried last.
    @ObservationIgnored private var couldAsk = true
    /// Texts that could not be saved before locking, sealed.
    @ObservationIgnored private var kept: [Notebook.Kept] = []
    @ObservationIgnored var lastInput = Duration.zero
    @ObservationIgnored var lastChange: Duration?
    /// The prompt of the system that is up.
    private var asking: Task<Result<KeychainPrompt, AuthenticationFailure>, Never>?
    /// Whether `unlock` looks what it can ask for.
    @ObservationIgnored private var isAboutToAsk = false
    @ObservationIgnored private var isCheckingPassword = false
    /// Counts locks and ways to unlock, so that an answer that comes after the next one is dropped.
    @ObservationIgnored var turn = 0
    /// The last of what reads or writes the notes in the keychain.
    @ObservationIgnored var underWayInKeychain: Task<Void, Never>?

    /// Takes what the app stands on. Nothing is asked before `start`.
    public init(setup: QuickNoteSetup = QuickNoteSetup()) {
        self.setup = setup
        let keychain = KeychainStore()
        store = NoteStore(service: setup.service + ".note")
        vault = NoteVault(
            keychain: keychain, service: setup.service + ".key", biometryProtections: setup.biometryProtections)
        monitor = EnrollmentMonitor(
            store: keychain, entry: .password(service: setup.service + ".key", account: "enrolled"),
            makeContext: setup.makeContext)
        auth = BiometricAuth(makeContext: setup.makeContext)
    }

    // MARK: - What is shown

    /// Whether the notes are locked, or not there yet.
    public var isLocked: Bool { notebook == nil }

    /// The button that locks and unlocks.
    public var lockButton: LockButton {
        LockButton(isLocked: isLocked, biometry: isBiometryTrusted ? support.biometry : nil)
    }

    /// What the sensor waits for, in words, while the system asks for biometry; nil otherwise.
    public var askingWords: String? {
        guard asking != nil, let sensor = support.sensor else { return nil }
        return sensor == .touchID ? "Put your \(sensor.bodyPart) on the sensor." : "Look at the sensor."
    }

    /// Forgets the message.
    public func dismissMessage() { message = nil }

    // MARK: - Starting

    /// Looks where the app stands; also after `Phase.unavailable`, and when the window comes back.
    public func start() async {
        guard notebook == nil else { return await refresh() }
        // A look at a window that came back is nothing that a person waits for.
        if phase == .locked || phase == .firstRun { await lookAgain() } else { await busily { await lookAgain() } }
    }

    private func lookAgain() async {
        let turn = turn
        do throws(QuickNoteError) {
            let count = try await vault.passwordCount()
            await look()
            // Somebody may have unlocked meanwhile, and even locked again.
            guard notebook == nil, turn == self.turn else { return }
            phase = count == 0 ? .firstRun : .locked
            if count > 1 {
                message =
                    "A change of the password was cut short: the old one and the new one both unlock. Change it again."
            }
        } catch {
            guard notebook == nil, turn == self.turn else { return }
            phase = .unavailable(error.words)
        }
    }

    /// Looks what biometry can do, and whether it is trusted.
    private func look() async {
        let (auth, monitor) = (auth, monitor)
        let (support, verdict) = await KeychainStore.inBackground {
            // A keychain that cannot be read trusts nothing.
            (auth.supportedBiometry, (try? monitor.check()) ?? .unknown)
        }
        self.support = support
        let isArmed = (try? await vault.hasBiometry()) ?? false
        isBiometryTrusted = isArmed && !verdict.requiresPassword
        hasEnrolmentChanged = verdict == .changed
    }

    /// Sets the first password and opens the empty notes.
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

    // MARK: - Unlocking

    /// Unlocks with biometry where it is trusted, and asks for the password otherwise, and after whatever else happens.
    public func unlock() async {
        guard phase == .locked, !isBusy else { return }
        let turn = turn
        await busily {
            isAboutToAsk = true
            await look()
            isAboutToAsk = false
            guard turn == self.turn else { return }
            let flow = newFlow()
            self.flow = flow
            guard case .biometry = flow.step else { return showPassword() }
            var options = AuthenticationOptions.biometry(
                reason: "Authenticate to unlock your notes.", fallbackTitle: "Use Password")
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
                    // The set changed between the two calls, or the item is gone: only the password will do.
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

    /// Asks for the password without biometry; a prompt that is up goes away.
    public func askForPassword() {
        guard phase == .locked else { return }
        if asking != nil || isAboutToAsk {
            // Its answer does not count any more.
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

    /// Takes the question for the password away again.
    public func cancelPassword() {
        passwordPrompt = nil
        flow = nil
    }

    /// Unlocks with a password; a wrong one is told in the prompt.
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
                    passwordPrompt?.error = error.words
                    return
                }
                flow?.passwordTried(isRight: false)
                showPassword()
                passwordPrompt?.error = error.words
            }
        }
    }

    /// Lets biometry unlock from now on; called only after the password was seen.
    private func trust(_ key: NoteKey) async {
        await look()
        guard support.biometry != nil, !isBiometryTrusted else { return }
        let monitor = monitor
        do throws(QuickNoteError) {
            guard try await vault.armBiometry(key) else { return }
            isBiometryTrusted = await KeychainStore.inBackground { (try? monitor.trustCurrent()) ?? false }
        } catch {
            // The notes open all the same; the next unlocking asks for the password again.
            report(error)
        }
    }

    /// Opens the notes, unless something else has happened since `turn`.
    private func open(_ key: NoteKey, _ turn: Int) async {
        var book = Notebook(key: key)
        do throws(QuickNoteError) {
            let sealed = try await store.all()
            guard turn == self.turn, notebook == nil else { return }
            book.take(kept)
            book.merge(sealed)
        } catch {
            // Half a list would look like lost notes. The next try begins anew.
            flow = nil
            return report(error)
        }
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
                ? "One note cannot be read. It was not deleted."
                : "\(book.unreadable) notes cannot be read. They were not deleted."
        }
    }

    // MARK: - Locking

    /// Locks: saves, and takes every text and the key out of memory.
    public func lock() async {
        guard notebook != nil else { return }
        turn += 1
        // What is typed while it saves is saved as well.
        while await save(), notebook?.isDirty == true {}
        // What the keychain did not take is kept sealed, and told.
        do throws(QuickNoteError) {
            kept += try notebook?.kept() ?? []
        } catch {
            // Sealing in memory has no reason to fail; if it does, a lost text is worse than a late lock.
            return report(error)
        }
        notebook = nil
        lastChange = nil
        passwordPrompt = nil
        flow = nil
        phase = .locked
        if !kept.isEmpty {
            message = "A note could not be saved. It comes back when you unlock; do not close the app before that."
        }
        await look()
    }

    /// Whether closing the app now would lose a text.
    public var hasUnsavedText: Bool { notebook?.isDirty == true || !kept.isEmpty }

    /// Time until `tick` has something to do; nil when it has nothing. It grows with input, and shrinks with a change of
    /// the text, which is observed.
    public var untilTick: Duration? {
        guard notebook != nil else { return nil }
        let due = [setup.autoLock.map { lastInput + $0 }, lastChange.map { $0 + setup.autoSave }].compactMap { $0 }
            .min()
        return due.map { max(.zero, $0 - setup.clock.elapsed) }
    }

    /// To be called after `untilTick`, or about every second: saves what has not changed for a while, and locks when
    /// nobody does anything.
    public func tick() async {
        guard notebook != nil else { return }
        let now = setup.clock.elapsed
        if let autoLock = setup.autoLock, now - lastInput >= autoLock { return await lock() }
        if let lastChange, now - lastChange >= setup.autoSave { await save() }
    }

    /// Tells that somebody is there: any key or pointer in the window.
    public func touch() { lastInput = setup.clock.elapsed }

    // MARK: - Password

    /// Changes the password; the notes stay as they are.
    ///
    /// - Returns: whether it was changed; `message` tells why not.
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
    /// Forgets the password and every note, as on the first day. Debug builds alone have it.
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

    // MARK: - Parts

    func report(_ error: QuickNoteError) { message = error.words }

    private func busily<R>(_ body: () async -> R) async -> R {
        underWay += 1
        defer { underWay -= 1 }
        return await body()
    }
}
