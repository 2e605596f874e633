// SPDX-License-Identifier: Apache-2.0

import Foundation
public import LatchkeyKit
import LocalAuthentication
public import Observation

/// The app without a user interface: a front end draws its properties and calls its functions.
///
/// While the notes are locked, neither the text of a note nor the key is in memory. A text that could not be saved
/// before locking is retained in sealed form and restored by the next unlock.
@MainActor
@Observable
public final class QuickNoteModel {
    /// The state of the app.
    public internal(set) var phase = Phase.starting
    /// The biometry that is available, as of the last check.
    public internal(set) var support = BiometrySupport.none
    /// The prompt for the password; nil when it is not to be shown.
    public internal(set) var passwordPrompt: PasswordPrompt?
    /// Whether the user waits for an operation: a prompt, or the keychain.
    public var isBusy: Bool { underWay > 0 }
    private var underWay = 0
    /// The last error; the front end shows it until `dismissMessage`.
    public internal(set) var message: String?

    /// The unlocked notes; nil while they are locked. Nothing else holds a text.
    var notebook: Notebook?

    @ObservationIgnored let setup: QuickNoteSetup
    @ObservationIgnored let store: NoteStore
    @ObservationIgnored let vault: NoteVault
    @ObservationIgnored let monitor: EnrollmentMonitor
    @ObservationIgnored let auth: BiometricAuth
    @ObservationIgnored var flow: FallbackFlow?
    /// Whether biometry may unlock: the item exists, and the enrolment is the trusted one.
    var isBiometryTrusted = false
    var hasEnrolmentChanged = false
    /// Whether the keychain was locked at the last check: nothing opens the notes until it is unlocked.
    var isKeychainLocked = false
    /// Whether a prompt could be shown at the last attempt.
    @ObservationIgnored var couldAsk = true
    /// Sealed texts that could not be saved before locking.
    @ObservationIgnored var kept: [Notebook.Kept] = []
    @ObservationIgnored var lastInput = Duration.zero
    @ObservationIgnored var lastChange: Duration?
    /// The evaluation whose system prompt is shown; nil when there is none.
    var asking: Task<Result<KeychainPrompt, AuthenticationFailure>, Never>?
    /// Whether `unlock` is still determining which prompt to show.
    @ObservationIgnored var isAboutToAsk = false
    @ObservationIgnored var isCheckingPassword = false
    /// Incremented by each lock and each cancelled unlock, so that late results are dropped.
    @ObservationIgnored var turn = 0
    /// The last operation on the notes in the keychain.
    @ObservationIgnored var underWayInKeychain: Task<Void, Never>?

    /// Creates the model. It does not access the keychain before `start`.
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

    // MARK: - Presentation

    /// Whether the notes are locked or not loaded yet.
    public var isLocked: Bool { notebook == nil }

    /// The button that locks and unlocks.
    public var lockButton: LockButton {
        LockButton(
            isLocked: isLocked, isKeychainLocked: isKeychainLocked, biometry: isBiometryTrusted ? support.biometry : nil
        )
    }

    /// Whether a password can be entered now; not while the keychain is locked.
    public var takesPassword: Bool { isLocked && !isKeychainLocked }

    /// What locked notes wait for, and why a finger or face does not unlock them.
    public var lockedWords: String {
        if isKeychainLocked { return QuickNoteError.notNow.words }
        guard let sensor = support.sensor, !isBiometryTrusted || support.biometry == nil else {
            return "Unlock to see them."
        }
        let name = sensor.name
        return switch support {
        case .available where hasEnrolmentChanged:
            "What the sensor recognises, or the passcode, has changed, so your password is needed once."
        case .available: "Enter your password once; after that, your \(sensor.bodyPart) unlocks them."
        case .lockedOut: "\(name) is locked after too many tries. Your password unlocks them."
        case .notEnrolled: "\(name) is not set up on this computer. Your password unlocks them."
        case .notAvailable, .none: "\(name) cannot be used now. Your password unlocks them."
        }
    }

    /// What to say after the first password was set: that biometry unlocks, too. Nil if it does not.
    public var trustWords: String? {
        guard isBiometryTrusted, let biometry = support.biometry else { return nil }
        return "From now on, your \(biometry.bodyPart) unlocks your notes, too."
    }

    /// What the sensor waits for, while the system prompts for biometry; nil otherwise.
    public var askingWords: String? {
        guard asking != nil, let sensor = support.sensor else { return nil }
        return sensor == .touchID ? "Put your \(sensor.bodyPart) on the sensor." : "Look at the sensor."
    }

    /// Removes the message.
    public func dismissMessage() { message = nil }

    // MARK: - Starting

    /// Determines the state of the app; also called after `Phase.unavailable` and when the window becomes active.
    public func start() async {
        guard notebook == nil else { return await refresh() }
        // The user does not wait for a check of a window that became active.
        if phase == .locked || phase == .firstRun { await lookAgain() } else { await busily { await lookAgain() } }
    }

    private func lookAgain() async {
        let turn = turn
        do throws(QuickNoteError) {
            let count = try await vault.passwordCount()
            await look()
            // Of earlier notes whose key was deleted, which a person should know before writing new ones.
            let old = count == 0 ? try await store.all().count : 0
            // The user may have unlocked meanwhile, and even locked again.
            guard notebook == nil, turn == self.turn else { return }
            phase = count == 0 ? .firstRun : .locked
            if old > 0 { message = Self.keylessWords(old) }
            if count > 1 {
                message =
                    "A change of the password was interrupted: the old and the new one both unlock. Change it again."
            }
        } catch {
            guard notebook == nil, turn == self.turn else { return }
            phase = .unavailable(error.words)
        }
    }

    private static func keylessWords(_ notes: Int) -> String {
        let what =
            notes == 1
            ? "There is one note whose key was deleted, so it cannot be read any more"
            : "There are \(notes) notes whose key was deleted, so they cannot be read any more"
        return what + "."
    }

    /// Determines which biometry is available and whether it is trusted.
    func look() async {
        let (auth, monitor) = (auth, monitor)
        let (support, verdict, isLocked) = await KeychainStore.inBackground {
            let support = auth.supportedBiometry
            do throws(KeychainError) {
                return (support, try monitor.check(), false)
            } catch {
                // A keychain that cannot be read trusts nothing.
                return (support, EnrollmentMonitor.Verdict.unknown, error.kind == .interactionNotAllowed)
            }
        }
        self.support = support
        isKeychainLocked = isLocked
        let isArmed = (try? await vault.hasBiometry()) ?? false
        isBiometryTrusted = isArmed && !verdict.requiresPassword
        hasEnrolmentChanged = verdict == .changed
    }

    // MARK: - Parts

    func report(_ error: QuickNoteError) { message = error.plainWords }

    func busily<R>(_ body: () async -> R) async -> R {
        underWay += 1
        defer { underWay -= 1 }
        return await body()
    }
}
