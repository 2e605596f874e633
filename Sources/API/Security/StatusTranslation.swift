// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension Status {
    /// The `OSStatus` that is returned to the app; the only translation of status codes in this module.
    package var osStatus: OSStatus {
        switch self {
        case .malformedRequest: errSecBadReq
        case .unsupportedVersion, .storeNewer, .storeOlder: errSecWrongSecVersion
        case .limitExceeded: errSecAllocate
        case .internalFailure: errSecInternalComponent
        // Behaviour SK-02: Apple uses this code for a key that may not be exported.
        case .unimplemented, .exportNotAllowed: errSecUnimplemented
        case .invalidParameter, .notPermitted: errSecParam
        case .cancelled, .userCancel, .interrupted, .promptDelayed: errSecUserCanceled
        case .daemonUnavailable, .noHome, .peerNotTrusted, .timedOut, .enclaveUnavailable, .vaultUnavailable:
            errSecNotAvailable
        case .storeUnreadable, .storeOfAnotherTier, .storeOfAnotherUser, .storeOfEarlierAccount, .anchorMissing,
            .rootKeyMissing:
            errSecInvalidKeychain
        case .storeReadOnly: errSecReadOnly
        case .diskFull: errSecDiskFull
        case .noSuchClass: errSecNoSuchClass
        case .noSuchAttribute: errSecNoSuchAttr
        case .duplicateItem: errSecDuplicateItem
        case .itemNotFound: errSecItemNotFound
        case .missingEntitlement: errSecMissingEntitlement
        case .dataTooLarge: errSecDataTooLarge
        case .interactionNotAllowed, .notInteractive, .storeRolledBack, .anchorOld, .eventUnfinished,
            .tpmReplaced, .anchorGone:
            errSecInteractionNotAllowed
        // Behaviour LA-42: all other reasons why authentication did not succeed.
        case .itemAuthenticationFailed, .keyUsageNotAllowed, .passcodeClassUnavailable, .enrolmentBindingUnavailable,
            .authenticationFailed, .userFallback, .systemCancel, .passcodeNotSet, .biometryNotAvailable,
            .biometryNotEnrolled, .biometryLockout, .appCancel, .invalidContext, .companionNotAvailable,
            .biometryNotPaired, .biometryDisconnected, .invalidDimensions, .passcodeDelayed:
            errSecAuthFailed
        }
    }

    /// The code of `com.apple.LocalAuthentication` that an operation with a Secure Enclave key returns (behaviours
    /// SK-01 and SE-02); nil for failures that are not related to authentication.
    package var authenticationCode: Int? {
        switch self {
        case .authenticationFailed, .itemAuthenticationFailed, .passcodeDelayed: -1
        case .userCancel, .interrupted, .promptDelayed: -2
        case .userFallback: -3
        case .systemCancel: -4
        case .passcodeNotSet, .passcodeClassUnavailable: -5
        case .biometryNotAvailable, .enrolmentBindingUnavailable: -6
        case .biometryNotEnrolled: -7
        case .biometryLockout: -8
        case .appCancel, .cancelled: -9
        case .invalidContext: -10
        case .companionNotAvailable: -11
        case .biometryNotPaired: -12
        case .biometryDisconnected: -13
        case .invalidDimensions: -14
        case .notInteractive, .interactionNotAllowed: -1004
        // The access control does not allow the operation.
        case .keyUsageNotAllowed: -1009
        case .malformedRequest, .unsupportedVersion, .limitExceeded, .timedOut, .internalFailure, .unimplemented,
            .notPermitted, .daemonUnavailable, .storeUnreadable, .storeOfAnotherTier, .storeNewer,
            .storeOfAnotherUser, .storeRolledBack, .storeReadOnly, .diskFull, .noHome, .peerNotTrusted, .storeOlder,
            .anchorMissing, .anchorOld, .eventUnfinished, .rootKeyMissing, .vaultUnavailable, .tpmReplaced, .anchorGone,
            .storeOfEarlierAccount, .invalidParameter, .noSuchClass, .noSuchAttribute, .duplicateItem, .itemNotFound,
            .missingEntitlement, .dataTooLarge, .exportNotAllowed, .enclaveUnavailable:
            nil
        }
    }
}
