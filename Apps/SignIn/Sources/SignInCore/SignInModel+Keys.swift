// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import LatchkeySignIn

/// The key of an account in the keychain. No function blocks the main actor.
extension SignInModel {
    /// The key; nil when there is none.
    static func key(
        of account: Account, for operation: Failure.Operation
    ) async -> Result<DeviceCredential?, Failure> {
        await KeychainStore.inBackground {
            do throws(SignInError) {
                return .success(try DeviceCredential.existing(user: account.user, for: account.server()))
            } catch {
                return .failure(Failure(operation, error))
            }
        }
    }

    /// The key, which has to be there.
    static func existingKey(
        of account: Account, for operation: Failure.Operation
    ) async throws(Failure) -> DeviceCredential {
        guard let key = try await key(of: account, for: operation).get() else {
            throw Failure(
                operation, .keyNotFound, words: "This device has no key for this account any more.",
                help: "Register this device with an enrolment code.")
        }
        return key
    }

    /// Deletes the key, if there is one.
    static func removeKey(of account: Account, for operation: Failure.Operation) async throws(Failure) {
        guard let key = try await key(of: account, for: operation).get() else { return }
        try await KeychainStore.inBackground { () throws(Failure) in
            do throws(SignInError) { try key.remove() } catch { throw Failure(operation, error) }
        }
    }

    /// The server of an account.
    static func server(of account: Account, for operation: Failure.Operation) throws(Failure) -> RelyingPartyServer {
        do throws(SignInError) { return try account.server() } catch { throw Failure(operation, error) }
    }
}
