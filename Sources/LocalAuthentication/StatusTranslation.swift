// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Security

extension Status {
    /// The code an app gets: the one place of this module where codes are translated.
    package var localAuthenticationCode: LAError.Code {
        switch self {
        case .authenticationFailed, .itemAuthenticationFailed, .passcodeDelayed: .authenticationFailed
        case .userCancel: .userCancel
        case .userFallback: .userFallback
        case .systemCancel, .timedOut: .systemCancel
        case .passcodeNotSet, .passcodeClassUnavailable: .passcodeNotSet
        case .biometryNotAvailable, .enrolmentBindingUnavailable: .biometryNotAvailable
        case .biometryNotEnrolled: .biometryNotEnrolled
        case .biometryLockout: .biometryLockout
        case .appCancel, .cancelled: .appCancel
        case .invalidContext: .invalidContext
        case .companionNotAvailable: .companionNotAvailable
        case .biometryNotPaired: .biometryNotPaired
        case .biometryDisconnected: .biometryDisconnected
        case .invalidDimensions: .invalidDimensions
        case .notInteractive, .interactionNotAllowed: .notInteractive
        // Apple has no code for an engine that cannot be used; nobody can be asked then.
        case .malformedRequest, .unsupportedVersion, .limitExceeded, .internalFailure, .unimplemented, .notPermitted,
            .daemonUnavailable, .storeUnreadable, .storeOfAnotherTier, .storeNewer, .storeOfAnotherUser,
            .storeRolledBack, .storeReadOnly, .diskFull, .noHome, .peerNotTrusted, .storeOlder, .anchorMissing,
            .anchorOld, .eventUnfinished, .invalidParameter, .noSuchClass,
            .noSuchAttribute, .duplicateItem, .itemNotFound, .missingEntitlement, .dataTooLarge,
            .exportNotAllowed, .keyUsageNotAllowed, .enclaveUnavailable:
            .notInteractive
        }
    }
}

extension Failure {
    /// The error an app gets, with our own sentence and, where there is one, what to do.
    var localAuthenticationError: LAError {
        var details: [String: Any] = [:]
        // Apps show or log this one sentence: what to do belongs to it.
        let words = [message, hint].filter { !$0.isEmpty }.joined(separator: " ")
        if !words.isEmpty { details[NSLocalizedDescriptionKey] = words }
        if !hint.isEmpty { details[NSLocalizedRecoverySuggestionErrorKey] = hint }
        return LAError(status.localAuthenticationCode, userInfo: details)
    }
}
