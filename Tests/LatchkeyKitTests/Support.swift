// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Security
import Testing

/// The simulated machine of the running test.
func machine() throws -> Simulator { try #require(Simulator.current) }

/// How an attempt ended: nil for success.
func ending(_ options: AuthenticationOptions, _ auth: BiometricAuth = BiometricAuth()) async -> AuthenticationFailure? {
    do throws(AuthenticationFailure) {
        try await auth.authenticate(options)
        return nil
    } catch {
        return error
    }
}

/// Creates an authenticator whose attempts use these contexts in order.
func auth(_ contexts: ScriptedBiometry...) -> BiometricAuth {
    let line = Line(contexts)
    return BiometricAuth { line.next() }
}

private final class Line: Sendable {
    private let contexts: [ScriptedBiometry]
    private let taken = Counter()
    init(_ contexts: [ScriptedBiometry]) { self.contexts = contexts }
    func next() -> ScriptedBiometry { contexts[min(taken.next(), contexts.count - 1)] }
}

/// Events in the order in which they were added.
actor Events {
    private(set) var all: [String] = []
    func add(_ event: String) { all.append(event) }
}

extension AuthenticationOptions {
    /// Options for biometry alone.
    static var biometry: AuthenticationOptions { .biometry(reason: "test") }
    /// Options for biometry or the passcode.
    static var owner: AuthenticationOptions { AuthenticationOptions(reason: "test") }
}

extension KeychainEntry {
    /// The entry that these tests use.
    static var token: KeychainEntry { .password(service: "service", account: "account") }
}

/// The error that a call throws; nil when it succeeds.
func failure(_ body: () throws(KeychainError) -> Void) -> KeychainError? {
    do throws(KeychainError) {
        try body()
        return nil
    } catch {
        return error
    }
}
