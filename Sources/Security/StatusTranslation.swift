// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension Status {
    /// The `OSStatus` a caller gets: the one place of this module where codes are translated.
    package var osStatus: OSStatus {
        switch self {
        case .malformedRequest: errSecBadReq
        case .unsupportedVersion, .storeNewer: errSecWrongSecVersion
        case .limitExceeded: errSecAllocate
        case .internalFailure: errSecInternalComponent
        // Behaviour SK-02: what may not be exported is answered with that code.
        case .unimplemented, .exportNotAllowed: errSecUnimplemented
        case .invalidParameter, .notPermitted: errSecParam
        case .cancelled, .userCancel: errSecUserCanceled
        case .daemonUnavailable, .noHome, .peerNotTrusted, .timedOut, .enclaveUnavailable: errSecNotAvailable
        case .storeUnreadable, .storeOfAnotherTier, .storeOfAnotherUser: errSecInvalidKeychain
        case .storeReadOnly: errSecReadOnly
        case .diskFull: errSecDiskFull
        case .noSuchClass: errSecNoSuchClass
        case .noSuchAttribute: errSecNoSuchAttr
        case .duplicateItem: errSecDuplicateItem
        case .itemNotFound: errSecItemNotFound
        case .missingEntitlement: errSecMissingEntitlement
        case .dataTooLarge: errSecDataTooLarge
        case .interactionNotAllowed, .notInteractive, .storeRolledBack: errSecInteractionNotAllowed
        // Behaviour LA-42: whatever else keeps a person from authenticating.
        case .itemAuthenticationFailed, .keyUsageNotAllowed, .passcodeClassUnavailable, .enrolmentBindingUnavailable,
            .authenticationFailed, .userFallback, .systemCancel, .passcodeNotSet, .biometryNotAvailable,
            .biometryNotEnrolled, .biometryLockout, .appCancel, .invalidContext, .companionNotAvailable,
            .biometryNotPaired, .biometryDisconnected, .invalidDimensions, .passcodeDelayed:
            errSecAuthFailed
        }
    }
}
