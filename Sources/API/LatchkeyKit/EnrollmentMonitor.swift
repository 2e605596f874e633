// SPDX-License-Identifier: Apache-2.0

import Foundation
public import LocalAuthentication
import Security

/// Detects that the enrolled fingers or faces differ from those that the app trusts, so that the app can ask for its
/// own password.
///
/// Call `trustCurrent` after the app has checked its own password, and `check` before it offers biometry:
///
///     switch try monitor.check() {
///     case .unchanged: offerBiometry()
///     case .firstRun, .changed, .unknown: askForPassword()
///     }
///
/// The result is information only. To make a secret unreadable after a change, store it in an item with
/// `KeychainProtection.currentBiometry`.
public struct EnrollmentMonitor: Sendable {
    /// The result of a comparison with the trusted set.
    public enum Verdict: Hashable, Sendable {
        /// No enrolled set is trusted yet.
        case firstRun
        /// The enrolled set is the trusted one.
        case unchanged
        /// The enrolled set differs from the trusted one, or nothing is enrolled any more.
        case changed
        /// Biometry is locked or not available, so the sets cannot be compared now. The trusted set stays stored.
        case unknown

        /// Whether the app has to check its own password before it offers biometry.
        public var requiresPassword: Bool { self != .unchanged }
    }

    private let store: KeychainStore
    private let entry: KeychainEntry
    private let makeContext: @Sendable () -> sending any BiometryEvaluating

    /// Creates a monitor that stores the trusted set in a keychain item.
    ///
    /// - Parameters:
    ///   - store: the keychain in which the trusted set is stored.
    ///   - entry: the item of the trusted set.
    ///   - makeContext: creates a context for each call; by default an `LAContext`. Tests pass a test double.
    public init(
        store: KeychainStore = KeychainStore(), entry: KeychainEntry,
        makeContext: @escaping @Sendable () -> sending any BiometryEvaluating = { LAContext() }
    ) {
        (self.store, self.entry, self.makeContext) = (store, entry, makeContext)
    }

    /// Compares the enrolled set with the trusted one.
    ///
    /// Blocks for a few round trips to the system; never prompts.
    ///
    /// - Returns: the result of the comparison.
    /// - Throws: `KeychainError` when the trusted set cannot be read. The app should then ask for its own password.
    public func check() throws(KeychainError) -> Verdict {
        // An attribute, since it is no secret: an app that looks often would fill the audit log with reads of one.
        let trusted: Data?
        do throws(KeychainError) {
            trusted = try store.attachment(of: entry)
        } catch {
            guard error.kind == .itemNotFound else { throw error }
            return .firstRun
        }
        guard let trusted else { return .firstRun }
        let context = makeContext()
        if let current = context.enrolledStateHash { return current == trusted ? .unchanged : .changed }
        // Without a hash, either nothing is enrolled any more, or biometry is locked or not available.
        if case .notEnrolled = BiometrySupport(asking: context) { return .changed }
        return .unknown
    }

    /// Trusts the enrolled set. Call it only right after the app has checked its own password.
    ///
    /// Blocks for a few round trips to the system; never prompts.
    ///
    /// - Returns: true when an enrolled set is trusted now. false when nothing is enrolled or biometry is locked;
    ///   then no set is trusted any more.
    /// - Throws: `KeychainError` when the item cannot be written.
    @discardableResult
    public func trustCurrent() throws(KeychainError) -> Bool {
        guard let current = makeContext().enrolledStateHash else {
            try store.remove(entry)
            return false
        }
        try store.store(
            current, in: entry, protection: KeychainProtection(.whenUnlockedThisDeviceOnly),
            [
                kSecAttrLabel as String: "Which fingers or faces are trusted",
                kSecAttrDescription as String: "setting of the app", kSecAttrGeneric as String: current,
            ], prompt: .never)
        return true
    }

    /// Removes the trusted set: the next `check` returns `firstRun`.
    ///
    /// Blocks for one round trip to the system; never prompts.
    ///
    /// - Throws: `KeychainError` when the item cannot be deleted.
    public func forget() throws(KeychainError) { try store.remove(entry) }
}
