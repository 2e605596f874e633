// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication
public import Observation

/// Who is logged in, for a view to watch. One context for each attempt, and none of them outlives it.
@MainActor
@Observable
public final class BiometricService {
    /// Whether the person has proven who they are since the last `logout`.
    public private(set) var isAuthenticated = false
    /// Whether a prompt is up, or about to be.
    public private(set) var isAuthenticating = false
    /// What biometry could do when `checkAvailability` was called last.
    public private(set) var support = BiometrySupport.none
    /// Why the last attempt, or the last `checkAvailability`, did not succeed; nil after one that did.
    public private(set) var failure: AuthenticationFailure?

    /// The kind of sensor, `none` before `checkAvailability`; set also where biometry cannot be used now.
    public var biometryType: LABiometryType {
        switch support.sensor {
        case .touchID?: .touchID
        case .faceID?: .faceID
        case .opticID?: .opticID
        case nil: .none
        }
    }

    /// The sentence of `failure`; nil for one that calls for no words, such as a cancelled prompt.
    public var error: String? { failure?.advice == .doNothing ? nil : failure?.message }

    private let auth: BiometricAuth
    private let options: AuthenticationOptions
    @ObservationIgnored private var running: Task<Void, Never>?
    /// Counts attempts and logouts, so that a late answer finds out that it is late.
    @ObservationIgnored private var turn = 0

    /// Takes how and by what the person is asked.
    ///
    /// - Parameters:
    ///   - options: how; the default asks for biometry or the passcode.
    ///   - auth: makes contexts; tests give doubles.
    public init(
        options: AuthenticationOptions = AuthenticationOptions(reason: "Authenticate to access your account"),
        auth: BiometricAuth = BiometricAuth()
    ) {
        self.options = options
        self.auth = auth
    }

    /// Looks what biometry can do now, and why it cannot. Blocks for two round trips to the system; never prompts.
    public func checkAvailability() {
        support = auth.supportedBiometry
        failure = support.biometry == nil ? auth.obstacle(to: .deviceOwnerAuthenticationWithBiometrics) : nil
    }

    /// Asks the person and returns when the attempt has ended. An attempt under way is waited for, not doubled.
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
        // A logout meanwhile stands: whoever was recognised for the session before is not logged in to the next.
        guard turn == self.turn else { return }
        isAuthenticated = outcome == nil
        failure = outcome
        isAuthenticating = false
        running = nil
    }

    /// Forgets who is logged in, and ends an attempt under way.
    public func logout() {
        turn += 1
        running?.cancel()
        running = nil
        isAuthenticated = false
        isAuthenticating = false
        failure = nil
    }
}
