// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import LatchkeySignIn

/// What the buttons do. Each shows its prompt, and ends with a message when it does not succeed.
extension SignInModel {
    /// Makes a key, and registers it with the code of the form.
    ///
    /// A former key of the same user and relying party is deleted first, because there is one for both; another former key
    /// when the new one is registered.
    ///
    /// - Returns: whether the device is registered.
    @discardableResult
    public func register(_ form: RegistrationForm) async -> Bool {
        guard activity == nil, case .registering(let former, _) = state else { return false }
        guard let account = form.account else {
            machine.handle(.failed(Failure(.registration, .invalidServer(.address), words: Self.noAddress)))
            return false
        }
        let isReplaced = former?.sharesKey(with: account) == true
        let (accounts, name) = (accounts, setup.deviceName)
        newRelease = account.release
        defer { newRelease = nil }
        return await perform(.registering) {
            do throws(Failure) {
                let server = try Self.server(of: account, for: .registration)
                if let former, isReplaced {
                    try await Self.removeKey(of: former, for: .registration)
                    self.machine.handle(.keyDeleted)
                }
                // Saved first, so that a program that ends here finds its key at the next start.
                try await Self.keychain(.registration) { () throws(KeychainError) in try await accounts.save(account) }
                let event = try await self.register(form, account, with: server, name: name)
                if let former, !isReplaced { try await Self.removeKey(of: former, for: .registration) }
                return .success(event)
            } catch {
                return .failure(error)
            }
        }
    }

    /// Signs in.
    public func signIn() async {
        guard case .signedOut(let account) = state else { return }
        await perform(.signingIn) {
            do throws(Failure) {
                let key = try await Self.existingKey(of: account, for: .signIn)
                let session = try await self.prompting(.signIn) { context throws(SignInError) in
                    try await key.signIn(context: context)
                }
                self.session = session
                return .success(.signedIn(expires: session.expires))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Does what the main button of the signed-out page names: signs in, or first unlocks the sensor with the passcode.
    public func proceed() async {
        if case .passcodeForSensor = method { await unlockSensor() } else { await signIn() }
    }

    /// Approves the payment.
    public func approve() async {
        guard case .signedIn(let account, _) = state, let session else { return }
        await perform(.approving) {
            do throws(Failure) {
                let key = try await Self.existingKey(of: account, for: .approval)
                try await self.prompting(.approval) { context throws(SignInError) in
                    try await key.stepUp(Self.payment, in: session, context: context)
                }
                return .success(.approved(act: Self.payment))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Ends the session. This device is signed out also when the server cannot be reached.
    public func signOut() async {
        guard state.isSignedIn, let session else { return }
        await perform(.signingOut) {
            do throws(SignInError) {
                try await session.signOut()
                return .success(.signedOut)
            } catch {
                return .failure(Failure(.signOut, error))
            }
        }
    }

    /// Revokes the key at the server, and deletes it from this device. A key that was not revoked is kept.
    public func forget() async {
        guard case .signedOut(let account) = state else { return }
        let accounts = accounts
        await perform(.forgetting) {
            do throws(Failure) {
                let key = try await Self.existingKey(of: account, for: .forgetting)
                _ = try await self.prompting(.forgetting) { context throws(SignInError) in
                    try await key.revoke(context: context)
                }
                try await Self.forget(account, accounts)
                return .success(.forgotten(atServer: true))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Deletes the key from this device without telling the server, whose list keeps it.
    public func removeHere() async {
        guard case .signedOut(let account) = state else { return }
        let accounts = accounts
        await perform(.forgetting) {
            do throws(Failure) {
                try await Self.forget(account, accounts)
                return .success(.forgotten(atServer: false))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Asks for the passcode, which unlocks a sensor that is locked after too many tries.
    public func unlockSensor() async {
        let auth = BiometricAuth(makeContext: setup.makeContext)
        let name = support.sensor?.name ?? "The sensor"
        await perform(.unlocking) {
            do throws(AuthenticationFailure) {
                try await auth.authenticate(
                    AuthenticationOptions(
                        reason: "unlock the sensor", cancelTitle: Failure.Operation.unlocking.cancelTitle))
                return .success(.sensorUnlocked(name))
            } catch {
                return .failure(
                    Failure(
                        .unlocking, error.advice == .doNothing ? .cancelled : .notAuthenticated, words: error.message,
                        help: error.recoverySuggestion))
            }
        }
    }

    /// Does what the button of the message offers.
    public func accept(_ offer: Notice.Offer) async {
        switch offer {
        case .newCode: useNewCode()
        case .passcode: await unlockSensor()
        case .removeHere: await removeHere()
        }
    }

    // MARK: - Steps

    private static let noAddress = "That is not the address of a server."

    private func register(
        _ form: RegistrationForm, _ account: Account, with server: RelyingPartyServer, name: String
    ) async throws(Failure) -> SignInEvent {
        do throws(Failure) {
            _ = try await prompting(.registration) { context throws(SignInError) in
                try await DeviceCredential.register(
                    user: account.user, with: server, enrollmentCode: form.trimmedCode, deviceName: name,
                    protection: account.release.protection, context: context)
            }
            return .registered(account)
        } catch {
            switch error.kind {
            case .outcomeUnknown(.registration), .alreadyRegistered: return .mayBeRegistered(account, error)
            default: throw error
            }
        }
    }

    private static func forget(_ account: Account, _ accounts: AccountStore) async throws(Failure) {
        try await removeKey(of: account, for: .forgetting)
        try await keychain(.forgetting) { () throws(KeychainError) in try await accounts.remove() }
    }

    private static func keychain(
        _ operation: Failure.Operation, _ body: () async throws(KeychainError) -> Void
    ) async throws(Failure) {
        do throws(KeychainError) { try await body() } catch { throw Failure(operation, error) }
    }
}
