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
    public internal(set) var phase = Phase.starting
    /// What biometry can do, as of the last look.
    public internal(set) var support = BiometrySupport.none
    /// The question for the password, when it is to be shown over the locked notes.
    public internal(set) var passwordPrompt: PasswordPrompt?
    /// Whether something is under way that a person waits for: a prompt, or the keychain.
    public var isBusy: Bool { underWay > 0 }
    private var underWay = 0
    /// What went wrong last, in words; the front shows it until `dismissMessage`.
    public internal(set) var message: String?

    /// The notes; nil while they are locked. Nothing else holds a text.
    var notebook: Notebook?

    @ObservationIgnored let setup: QuickNoteSetup
    @ObservationIgnored let store: NoteStore
    @ObservationIgnored let vault: NoteVault
    @ObservationIgnored let monitor: EnrollmentMonitor
    @ObservationIgnored let auth: BiometricAuth
    @ObservationIgnored var flow: FallbackFlow?
    /// Whether biometry may unlock: the key is behind it, and what is enrolled is what was trusted.
    var isBiometryTrusted = false
    @ObservationIgnored var hasEnrolmentChanged = false
    /// Whether there was a place to ask for biometry, when that was tried last.
    @ObservationIgnored var couldAsk = true
    /// Texts that could not be saved before locking, sealed.
    @ObservationIgnored var kept: [Notebook.Kept] = []
    @ObservationIgnored var lastInput = Duration.zero
    @ObservationIgnored var lastChange: Duration?
    /// The prompt of the system that is up.
    var asking: Task<Result<KeychainPrompt, AuthenticationFailure>, Never>?
    /// Whether `unlock` looks what it can ask for.
    @ObservationIgnored var isAboutToAsk = false
    @ObservationIgnored var isCheckingPassword = false
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
    func look() async {
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

    // MARK: - Parts

    func report(_ error: QuickNoteError) { message = error.words }

    func busily<R>(_ body: () async -> R) async -> R {
        underWay += 1
        defer { underWay -= 1 }
        return await body()
    }
}
