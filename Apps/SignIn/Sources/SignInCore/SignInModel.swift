// SPDX-License-Identifier: Apache-2.0

import Foundation
public import LatchkeyKit
import LatchkeySignIn
import LocalAuthentication
public import Observation

/// The app without a user interface: what a window shows, and what its buttons do.
@MainActor
@Observable
public final class SignInModel {
    /// What the app does for the user now.
    public enum Activity: Hashable, Sendable {
        /// The device is registered.
        case registering
        /// A session is opened.
        case signingIn
        /// The payment is approved.
        case approving
        /// The session is ended.
        case signingOut
        /// The key is revoked and deleted.
        case forgetting
        /// The passcode unlocks the sensor.
        case unlocking
    }

    /// What the sample asks the user to approve.
    public nonisolated static let payment = "pay 20 EUR to Bob"

    /// The state and the message.
    public internal(set) var machine = SignInMachine()
    /// What runs; nil for nothing.
    public internal(set) var activity: Activity?
    /// What the sensor can do, as of the last look.
    public internal(set) var support = BiometrySupport.none

    @ObservationIgnored let setup: SignInSetup
    @ObservationIgnored let accounts: AccountStore
    @ObservationIgnored var session: SignInSession?
    /// Which proof releases the key that is being registered; nil at other times.
    @ObservationIgnored var newRelease: Account.Release?
    /// The context of the prompt that may be shown.
    @ObservationIgnored var promptContext: LAContext?
    @ObservationIgnored private var running: Task<Result<SignInEvent, Failure>, Never>?

    /// Creates the model. It does not access the keychain before `start`.
    public init(setup: SignInSetup = SignInSetup()) {
        self.setup = setup
        accounts = AccountStore(service: setup.service)
    }

    // MARK: - What a window shows

    /// The state.
    public var state: SignInState { machine.state }

    /// What the user is told; nil for nothing.
    public var notice: Notice? { machine.notice }

    /// The method with which the user authenticates.
    public var method: SignInMethod {
        SignInMethod(support, release: newRelease ?? state.account?.release ?? .biometry)
    }

    /// The method with which the user authenticates while a device is registered whose key that method releases.
    public func method(for release: Account.Release) -> SignInMethod { SignInMethod(support, release: release) }

    /// The proofs among which the user can choose for a new key.
    public var releases: [Account.Release] { support.sensor == nil ? [.presence] : Account.Release.allCases }

    /// The name of a choice among `releases`: "Fingerprint" or "Fingerprint or Passcode".
    public func name(of release: Account.Release) -> String {
        let sensor = support.sensor?.name ?? "Passcode"
        return release == .biometry ? sensor : "\(sensor) or Passcode"
    }

    /// Whether the user can return from the form to the registered key.
    public var canKeepKey: Bool {
        if case .registering(_?, hasKey: true) = state { activity == nil } else { false }
    }

    /// The warning that a button scans at once: shown to users with Face ID who are signed out, as in Apple's sample
    /// (`faceIDLabel.isHidden = (state == .loggedin) || (context.biometryType != .faceID)`). A button that asks for the
    /// passcode needs none.
    public var faceWarning: String? {
        state.isSignedIn || support.biometry != .faceID ? nil : Biometry.faceID.immediateScanWarning
    }

    /// What the user is asked for, or waits for; nil when nothing runs.
    public var activityWords: String? {
        switch activity {
        case nil: nil
        case .registering?, .signingIn?, .approving?, .forgetting?: method.asking
        case .unlocking?: "Enter the passcode of this device."
        case .signingOut?: "Signing out…"
        }
    }

    /// What the form for the registration contains at first.
    public var firstForm: RegistrationForm {
        var form = state.account.map { RegistrationForm($0) } ?? setup.form
        if !releases.contains(form.release) { form.release = .presence }
        return form
    }

    /// Time until `tick` ends the session; nil without one.
    public var untilExpiry: Duration? {
        guard case .signedIn(_, let expires) = state else { return nil }
        return .seconds(max(0, expires.timeIntervalSince(setup.now())))
    }

    // MARK: - Starting and waiting

    /// Reads the keychain; also called when the window becomes active, and to try again.
    public func start() async {
        await look()
        switch state {
        case .starting, .unavailable: break
        default: return
        }
        do throws(KeychainError) {
            guard let account = try await accounts.load() else { return machine.handle(.started(nil, hasKey: false)) }
            switch await Self.key(of: account, for: .signIn) {
            case .success(let key): machine.handle(.started(account, hasKey: key != nil))
            case .failure(let failure): machine.handle(.startFailed(failure.words))
            }
        } catch {
            machine.handle(.startFailed(error.message))
        }
    }

    /// Reads what the sensor can do.
    func look() async {
        let auth = BiometricAuth(makeContext: setup.makeContext)
        support = await KeychainStore.inBackground { auth.supportedBiometry }
    }

    /// Ends a session whose time is over. Must be called when the time `untilExpiry` has passed.
    public func tick() {
        guard untilExpiry == .zero else { return }
        cancel()
        session = nil
        machine.handle(.expired)
    }

    /// Waits until the session ends, for a user interface without timers of its own; returns at once without a session, and
    /// when its task is cancelled.
    public func waitForExpiry() async {
        while let due = untilExpiry {
            // The clock may have been set in the meantime.
            do { try await Task.sleep(for: min(due, .seconds(3600))) } catch { return }
            tick()
        }
    }

    /// Removes the message.
    public func dismissNotice() { machine.handle(.dismissed) }

    /// Shows the form for a new enrolment code. The key stays until the form is sent.
    public func useNewCode() { if activity == nil { machine.handle(.wantsNewCode) } }

    /// Returns from the form to the registered key.
    public func keepKey() { if activity == nil { machine.handle(.keepsKey) } }

    // MARK: - Operations

    /// Cancels what runs: dismisses its prompt, and ends its request.
    public func cancel() {
        running?.cancel()
        // The context is one of the app, which the cancelled call does not invalidate.
        promptContext?.invalidate()
    }

    /// Runs one operation at a time, and reports how it ended.
    ///
    /// - Returns: whether it succeeded.
    @discardableResult
    func perform(
        _ activity: Activity, _ body: @escaping @MainActor () async -> Result<SignInEvent, Failure>
    ) async -> Bool {
        guard self.activity == nil else { return false }
        machine.handle(.dismissed)
        self.activity = activity
        let task = Task { await body() }
        running = task
        let result = await task.value
        running = nil
        // A failure may be that the sensor was locked.
        await look()
        self.activity = nil
        switch result {
        case .success(let event): machine.handle(event)
        case .failure(let failure): machine.handle(.failed(failure))
        }
        if !state.isSignedIn { session = nil }
        if case .success = result { return true } else { return false }
    }
}
