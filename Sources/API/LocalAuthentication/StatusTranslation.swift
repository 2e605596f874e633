// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Security

extension Status {
    /// The `LAError` code of a status. The only place in this module that translates codes.
    package var localAuthenticationCode: LAError.Code {
        switch self {
        case .authenticationFailed, .itemAuthenticationFailed, .passcodeDelayed: .authenticationFailed
        case .userCancel, .interrupted, .promptDelayed: .userCancel
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
        // Apple has no code for an engine that cannot be used. No prompt can be shown then, which is `notInteractive`.
        case .malformedRequest, .unsupportedVersion, .limitExceeded, .internalFailure, .unimplemented, .notPermitted,
            .daemonUnavailable, .storeUnreadable, .storeOfAnotherTier, .storeNewer, .storeOfAnotherUser,
            .storeRolledBack, .storeReadOnly, .diskFull, .noHome, .peerNotTrusted, .storeOlder, .anchorMissing,
            .anchorOld, .eventUnfinished, .rootKeyMissing, .vaultUnavailable, .tpmReplaced, .anchorGone,
            .storeOfEarlierAccount, .invalidParameter, .noSuchClass,
            .noSuchAttribute, .duplicateItem, .itemNotFound, .missingEntitlement, .dataTooLarge,
            .exportNotAllowed, .keyUsageNotAllowed, .enclaveUnavailable:
            .notInteractive
        }
    }
}

extension Failure {
    /// The `LAError` of a failure, with its message and, if there is one, its hint.
    var localAuthenticationError: LAError {
        var details: [String: Any] = [:]
        // Apps show or log only `localizedDescription`, so it includes the hint.
        let words = [message.description, hint.description].filter { !$0.isEmpty }.joined(separator: " ")
        if !words.isEmpty { details[NSLocalizedDescriptionKey] = words }
        if !hint.isEmpty { details[NSLocalizedRecoverySuggestionErrorKey] = hint.description }
        return LAError(status.localAuthenticationCode, userInfo: details)
    }
}
