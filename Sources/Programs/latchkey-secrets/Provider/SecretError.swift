// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// An error with which a call is answered. The names are those of the Secret Service API and of D-Bus.
struct SecretError: Error, Equatable {
    enum Name: String, CaseIterable {
        case isLocked = "org.freedesktop.Secret.Error.IsLocked"
        case noSession = "org.freedesktop.Secret.Error.NoSession"
        case noSuchObject = "org.freedesktop.Secret.Error.NoSuchObject"
        case alreadyExists = "org.freedesktop.Secret.Error.AlreadyExists"
        case failed = "org.freedesktop.DBus.Error.Failed"
        case accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
        case invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
        case limitsExceeded = "org.freedesktop.DBus.Error.LimitsExceeded"
        case notSupported = "org.freedesktop.DBus.Error.NotSupported"
        case readOnly = "org.freedesktop.DBus.Error.PropertyReadOnly"
        case timeout = "org.freedesktop.DBus.Error.Timeout"
        case unknownInterface = "org.freedesktop.DBus.Error.UnknownInterface"
        case unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
        case unknownObject = "org.freedesktop.DBus.Error.UnknownObject"
        case unknownProperty = "org.freedesktop.DBus.Error.UnknownProperty"
    }

    let name: Name
    let message: String

    init(_ name: Name, _ message: String) { (self.name, self.message) = (name, message) }

    init(_ failure: Failure) {
        let hint = failure.hint.isEmpty ? "" : " \(failure.hint)"
        self.init(Name(failure.status), "\(failure.message)\(hint)")
    }

    static let noSuchObject = SecretError(.noSuchObject, "There is no such object.")
    static let noSession = SecretError(.noSession, "This session is not open on this connection.")
    static let tooMany = SecretError(.limitsExceeded, "This program has too many calls, sessions or prompts.")
    static let tooLong = SecretError(.limitsExceeded, "A secret, a label or the attributes are too long.")
    static let wrongArguments = SecretError(.invalidArguments, "The arguments are not those of this method.")
}

extension SecretError.Name {
    /// The name for a status of the daemon; docs/use/secret-service.md has the table.
    init(_ status: Status) {
        self =
            switch status {
            case .interactionNotAllowed, .notInteractive: .isLocked
            case .itemNotFound: .noSuchObject
            case .duplicateItem: .alreadyExists
            case .cancelled, .userCancel, .userFallback, .systemCancel, .appCancel, .interrupted, .notPermitted,
                .missingEntitlement, .peerNotTrusted, .authenticationFailed, .itemAuthenticationFailed,
                .passcodeDelayed, .promptDelayed, .biometryLockout, .passcodeNotSet, .biometryNotAvailable,
                .biometryNotEnrolled,
                .biometryNotPaired, .biometryDisconnected, .companionNotAvailable, .invalidContext,
                .passcodeClassUnavailable, .enrolmentBindingUnavailable, .exportNotAllowed, .keyUsageNotAllowed:
                .accessDenied
            case .malformedRequest, .invalidParameter, .noSuchClass, .noSuchAttribute, .invalidDimensions:
                .invalidArguments
            case .limitExceeded, .dataTooLarge, .diskFull: .limitsExceeded
            case .timedOut: .timeout
            case .unimplemented, .unsupportedVersion: .notSupported
            case .internalFailure, .daemonUnavailable, .storeUnreadable, .storeOfAnotherTier, .storeNewer,
                .storeOfAnotherUser, .storeRolledBack, .storeReadOnly, .noHome, .storeOlder, .anchorMissing,
                .anchorOld, .eventUnfinished, .rootKeyMissing, .vaultUnavailable, .tpmReplaced, .anchorGone,
                .storeOfEarlierAccount, .enclaveUnavailable:
                .failed
            }
    }
}
