// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension Status {
    /// The `OSStatus` a caller gets: the one place of this module where codes are translated.
    package var osStatus: OSStatus {
        switch self {
        case .malformedRequest: errSecBadReq
        case .unsupportedVersion, .storeNewer, .storeOlder: errSecWrongSecVersion
        case .limitExceeded: errSecAllocate
        case .internalFailure: errSecInternalComponent
        // Behaviour SK-02: what may not be exported is answered with that code.
        case .unimplemented, .exportNotAllowed: errSecUnimplemented
        case .invalidParameter, .notPermitted: errSecParam
        case .cancelled, .userCancel: errSecUserCanceled
        case .daemonUnavailable, .noHome, .peerNotTrusted, .timedOut, .enclaveUnavailable: errSecNotAvailable
        case .storeUnreadable, .storeOfAnotherTier, .storeOfAnotherUser, .anchorMissing: errSecInvalidKeychain
        case .storeReadOnly: errSecReadOnly
        case .diskFull: errSecDiskFull
        case .noSuchClass: errSecNoSuchClass
        case .noSuchAttribute: errSecNoSuchAttr
        case .duplicateItem: errSecDuplicateItem
        case .itemNotFound: errSecItemNotFound
        case .missingEntitlement: errSecMissingEntitlement
        case .dataTooLarge: errSecDataTooLarge
        case .interactionNotAllowed, .notInteractive, .storeRolledBack, .anchorOld, .eventUnfinished:
            errSecInteractionNotAllowed
        // Behaviour LA-42: whatever else keeps a person from authenticating.
        case .itemAuthenticationFailed, .keyUsageNotAllowed, .passcodeClassUnavailable, .enrolmentBindingUnavailable,
            .authenticationFailed, .userFallback, .systemCancel, .passcodeNotSet, .biometryNotAvailable,
            .biometryNotEnrolled, .biometryLockout, .appCancel, .invalidContext, .companionNotAvailable,
            .biometryNotPaired, .biometryDisconnected, .invalidDimensions, .passcodeDelayed:
            errSecAuthFailed
        }
    }

    /// The code of `com.apple.LocalAuthentication` that an operation of a key in a token ends with (behaviours SK-01 and
    /// SE-02); nil for what has nothing to do with a person.
    package var authenticationCode: Int? {
        switch self {
        case .authenticationFailed, .itemAuthenticationFailed, .passcodeDelayed: -1
        case .userCancel: -2
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
            .anchorMissing, .anchorOld, .eventUnfinished,
            .invalidParameter, .noSuchClass, .noSuchAttribute, .duplicateItem, .itemNotFound, .missingEntitlement,
            .dataTooLarge, .exportNotAllowed, .enclaveUnavailable:
            nil
        }
    }
}
