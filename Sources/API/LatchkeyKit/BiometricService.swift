// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication
public import Observation

/// The login state of an app, for a view to observe. Each attempt uses a new context, whose proof is discarded when the
/// attempt ends.
@MainActor
@Observable
public final class BiometricService {
    /// Whether the user has authenticated since the last `logout`.
    public private(set) var isAuthenticated = false
    /// Whether an attempt is running: a prompt is shown or about to be shown.
    public private(set) var isAuthenticating = false
    /// What biometry could do at the last call of `checkAvailability`.
    public private(set) var support = BiometrySupport.none
    /// Why the last attempt or `checkAvailability` failed; nil after one that succeeded.
    public private(set) var failure: AuthenticationFailure?

    /// The kind of sensor, whether usable or not; `none` before `checkAvailability`.
    public var biometryType: LABiometryType {
        switch support.sensor {
        case .touchID?: .touchID
        case .faceID?: .faceID
        case .opticID?: .opticID
        case nil: .none
        }
    }

    /// The message of `failure`; nil when there is nothing to display, such as after the user cancelled.
    public var error: String? { failure?.advice == .doNothing ? nil : failure?.message }

    private let auth: BiometricAuth
    private let options: AuthenticationOptions
    @ObservationIgnored private var running: Task<Void, Never>?
    /// Incremented by each attempt and logout; an attempt whose number is no longer current does not change the state.
    @ObservationIgnored private var turn = 0

    /// Creates a service that is logged out.
    ///
    /// - Parameters:
    ///   - options: the policy and the texts of the prompt; by default biometry or the passcode.
    ///   - auth: runs the attempts; tests pass one with test doubles.
    public init(
        options: AuthenticationOptions = AuthenticationOptions(reason: "Authenticate to access your account"),
        auth: BiometricAuth = BiometricAuth()
    ) {
        (self.options, self.auth) = (options, auth)
    }

    /// Updates `support` and `failure`. Blocks for up to three round trips to the system; never prompts.
    public func checkAvailability() {
        support = auth.supportedBiometry
        failure = support.biometry == nil ? auth.obstacle(to: .deviceOwnerAuthenticationWithBiometrics) : nil
    }

    /// Shows a prompt, and returns when `isAuthenticated` and `failure` are updated.
    ///
    /// If an attempt is running already, waits until it ends instead of starting another. Cancelling the task that
    /// started the attempt cancels the attempt.
    public func authenticate() async {
        if let running {
            await running.value
            return
        }
        turn += 1
        let turn = turn
        isAuthenticating = true
        failure = nil
        let task = Task { await attempt(turn) }
        running = task
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func attempt(_ turn: Int) async {
        let outcome: AuthenticationFailure?
        do throws(AuthenticationFailure) {
            try await auth.authenticate(options)
            outcome = nil
        } catch {
            outcome = error
        }
        // `logout` was called meanwhile: this proof belongs to the previous session and must not log in to the next
        // one.
        guard turn == self.turn else { return }
        isAuthenticated = outcome == nil
        failure = outcome
        isAuthenticating = false
        running = nil
    }

    /// Logs out and cancels a running attempt.
    public func logout() {
        turn += 1
        running?.cancel()
        running = nil
        isAuthenticated = false
        isAuthenticating = false
        failure = nil
    }
}
