// SPDX-License-Identifier: Apache-2.0

public import LatchkeyModel

/// Why an operation of `KeychainControl` or `FingerprintControl` did not succeed.
public struct SettingsFailure: Error, Equatable, Sendable {
    /// The kinds of failure that a window tells apart.
    public enum Code: CaseIterable, Sendable {
        /// The user cancelled at the prompt, or `cancel()` was called.
        case cancelled
        /// The daemon is not installed, cannot be started, or does not answer.
        case unavailable
        /// The store cannot be used: it is damaged, rolled back, or of another version or tier.
        case storeUnusable
        /// No program is there that could show the prompt.
        case noPrompt
        /// The keychain is locked.
        case locked
        /// No passcode is set, and the operation needs one.
        case passcodeNotSet
        /// The passcode was wrong, or a finger or face was not recognised.
        case notAuthenticated
        /// A recovery code does not open what it was typed for, or that was changed.
        case notOpened
        /// Passcodes are not accepted for a time after wrong ones, or no prompt is shown for a time after one was refused;
        /// `message` says for how long.
        case delayed
        /// A file, a key or a finger of that name exists already.
        case exists
        /// Something that the operation names does not exist.
        case notFound
        /// The fingerprint reader is missing, was disconnected, or does not work.
        case noReader
        /// The fingerprint reader was disconnected while it was used.
        case unplugged
        /// The system does not let the user do this.
        case notAllowed
        /// Anything else; `message` says what.
        case other
    }

    /// Which kind of failure occurred.
    public let code: Code
    /// What happened, as one or more sentences. It contains no secret.
    public let message: Phrase
    /// What the user can do, as a sentence that may name a command of the shell; empty when there is no
    /// advice.
    public let hint: Phrase

    init(_ code: Code, _ message: Phrase, hint: Phrase = "") {
        (self.code, self.message, self.hint) = (code, message, hint)
    }

    init(_ failure: Failure) {
        self.init(Code(failure.status), failure.text, hint: failure.advice)
    }

    static let cancelled = SettingsFailure(.cancelled, "The operation was cancelled.")
}

extension SettingsFailure.Code {
    init(_ status: Status) {
        switch status {
        case .userCancel, .interrupted, .systemCancel, .appCancel, .userFallback, .cancelled: self = .cancelled
        case .daemonUnavailable, .noHome, .peerNotTrusted, .timedOut, .unsupportedVersion: self = .unavailable
        case .storeUnreadable, .storeOfAnotherTier, .storeNewer, .storeOfAnotherUser, .storeRolledBack, .storeReadOnly,
            .storeOlder, .anchorMissing, .anchorOld, .eventUnfinished, .rootKeyMissing, .vaultUnavailable, .tpmReplaced,
            .anchorGone, .storeOfEarlierAccount:
            self = .storeUnusable
        case .notInteractive: self = .noPrompt
        case .interactionNotAllowed: self = .locked
        case .passcodeNotSet, .passcodeClassUnavailable: self = .passcodeNotSet
        case .authenticationFailed: self = .notAuthenticated
        case .itemAuthenticationFailed: self = .notOpened
        case .passcodeDelayed, .promptDelayed: self = .delayed
        case .duplicateItem: self = .exists
        case .itemNotFound: self = .notFound
        case .biometryNotAvailable, .biometryDisconnected, .biometryNotPaired: self = .noReader
        case .malformedRequest, .limitExceeded, .internalFailure, .unimplemented, .notPermitted, .diskFull,
            .invalidParameter, .noSuchClass, .noSuchAttribute, .missingEntitlement, .dataTooLarge,
            .enrolmentBindingUnavailable, .exportNotAllowed, .keyUsageNotAllowed, .enclaveUnavailable,
            .biometryNotEnrolled, .biometryLockout, .invalidContext, .companionNotAvailable, .invalidDimensions:
            self = .other
        }
    }
}
