// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Security
import Testing

/// The machine of the running test.
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

/// Auth whose every attempt gets the next of these contexts.
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

/// Events in the order they came.
actor Events {
    private(set) var all: [String] = []
    func add(_ event: String) { all.append(event) }
}

extension AuthenticationOptions {
    /// Biometry alone.
    static var biometry: AuthenticationOptions { .biometry(reason: "test") }
    /// Biometry or the passcode.
    static var owner: AuthenticationOptions { AuthenticationOptions(reason: "test") }
}

extension KeychainEntry {
    /// An entry of these tests.
    static var token: KeychainEntry { .password(service: "service", account: "account") }
}

/// The error that a call throws; nil when it throws none.
func failure(_ body: () throws(KeychainError) -> Void) -> KeychainError? {
    do throws(KeychainError) {
        try body()
        return nil
    } catch {
        return error
    }
}
