// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication

/// Tells when other fingers or faces are enrolled than those the app trusts, so that it asks for its password again.
///
/// The app calls `trustCurrent` after it has seen its own password, and `check` before it offers biometry:
///
///     switch try monitor.check() {
///     case .unchanged: offerBiometry()
///     case .firstRun, .changed, .unknown: askForPassword()
///     }
///
/// This informs; it revokes nothing. A secret that has to be out of reach after a change belongs into an item with
/// `KeychainProtection.currentBiometry`.
public struct EnrollmentMonitor: Sendable {
    /// What a comparison tells.
    public enum Verdict: Hashable, Sendable {
        /// Nothing was trusted so far.
        case firstRun
        /// What is enrolled is what was trusted.
        case unchanged
        /// Something else is enrolled, or nothing any more.
        case changed
        /// It cannot be told now: biometry is locked or not available. What was trusted is kept.
        case unknown

        /// Whether the app has to see its password before it offers biometry.
        public var requiresPassword: Bool { self != .unchanged }
    }

    private let store: KeychainStore
    private let entry: KeychainEntry
    private let makeContext: @Sendable () -> sending any BiometryEvaluating

    /// Takes where the trusted state is kept.
    ///
    /// - Parameters:
    ///   - store: the keychain, where no other app can put another state in its place.
    ///   - entry: which item.
    ///   - makeContext: makes a context; tests give doubles.
    public init(
        store: KeychainStore = KeychainStore(), entry: KeychainEntry,
        makeContext: @escaping @Sendable () -> sending any BiometryEvaluating = { LAContext() }
    ) {
        self.store = store
        self.entry = entry
        self.makeContext = makeContext
    }

    /// Compares what is enrolled now with what was trusted. Blocks; never prompts.
    ///
    /// - Throws: `KeychainError` when the keychain cannot be read: then nothing is known, and the password is due.
    public func check() throws(KeychainError) -> Verdict {
        let trusted: Data
        do throws(KeychainError) {
            trusted = try store.data(of: entry, prompt: .never)
        } catch {
            guard error.kind == .itemNotFound else { throw error }
            return .firstRun
        }
        let context = makeContext()
        if let current = context.enrolledStateHash { return current == trusted ? .unchanged : .changed }
        // No hash: either nothing is enrolled any more, or it cannot be told.
        if case .notEnrolled = BiometrySupport(asking: context) { return .changed }
        return .unknown
    }

    /// Trusts what is enrolled now; to be called only when the app has just seen its own password. Blocks.
    ///
    /// - Returns: whether there was something to trust. Without, nothing is trusted any more.
    @discardableResult
    public func trustCurrent() throws(KeychainError) -> Bool {
        guard let current = makeContext().enrolledStateHash else {
            try store.remove(entry)
            return false
        }
        try store.store(
            current, in: entry, protection: KeychainProtection(.whenUnlockedThisDeviceOnly), prompt: .never)
        return true
    }

    /// Trusts nothing any more: the next `check` is a first run. Blocks.
    public func forget() throws(KeychainError) { try store.remove(entry) }
}
