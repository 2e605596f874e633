// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// Passwords of accounts that a test sets, without PAM.
package final class ScriptedPasswords: AccountPasswords {
    private struct State: Sendable {
        var password: SecretBytes?
        var verdict: AccountVerdict?
        var messages: [String] = []
        var tries = 0
    }
    private let state: Mutex<State>

    /// Creates the passwords of a system whose accounts have this password; nil for accounts without one.
    package init(_ password: String?) {
        state = Mutex(State(password: password.map { SecretBytes($0.utf8) }))
    }

    /// Changes the password, as passwd(1) does.
    package func change(to password: String?) { state.withLock { $0.password = password.map { SecretBytes($0.utf8) } } }

    /// Answers every further verification with this verdict; nil to compare passwords again.
    package func answer(_ verdict: AccountVerdict?) { state.withLock { $0.verdict = verdict } }

    /// Shows these messages in every further verification.
    package func say(_ messages: [String]) { state.withLock { $0.messages = messages } }

    /// How many passwords were verified.
    package var tries: Int { state.withLock(\.tries) }

    package func hasPassword(_ account: AccountName) throws(Failure) -> Bool { state.withLock { $0.password != nil } }

    package func verify(
        _ password: SecretBytes, of account: AccountName, show: @escaping @Sendable (String) -> Void,
        completion: @escaping @Sendable (AccountVerdict) -> Void
    ) {
        let (verdict, messages) = state.withLock { state in
            state.tries += 1
            return (state.verdict ?? (state.password == password ? .right(mustChange: false) : .wrong), state.messages)
        }
        for message in messages { show(message) }
        completion(verdict)
    }
}
