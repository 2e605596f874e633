// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LocalAuthentication
import Testing

/// The `LAError` code that an app gets for each status.
@Suite struct StatusTranslationTests {
    private static let rows: [(Status, LAError.Code)] = [
        (.malformedRequest, .notInteractive), (.unsupportedVersion, .notInteractive),
        (.limitExceeded, .notInteractive), (.timedOut, .systemCancel), (.internalFailure, .notInteractive),
        (.unimplemented, .notInteractive), (.notPermitted, .notInteractive), (.cancelled, .appCancel),
        (.daemonUnavailable, .notInteractive), (.storeUnreadable, .notInteractive),
        (.storeOfAnotherTier, .notInteractive), (.storeNewer, .notInteractive),
        (.storeOfAnotherUser, .notInteractive), (.storeRolledBack, .notInteractive),
        (.storeReadOnly, .notInteractive), (.diskFull, .notInteractive), (.noHome, .notInteractive),
        (.peerNotTrusted, .notInteractive), (.storeOlder, .notInteractive), (.anchorMissing, .notInteractive),
        (.anchorOld, .notInteractive), (.eventUnfinished, .notInteractive), (.invalidParameter, .notInteractive),
        (.rootKeyMissing, .notInteractive), (.vaultUnavailable, .notInteractive), (.tpmReplaced, .notInteractive),
        (.anchorGone, .notInteractive), (.storeOfEarlierAccount, .notInteractive), (.noSuchClass, .notInteractive),
        (.noSuchAttribute, .notInteractive), (.duplicateItem, .notInteractive), (.itemNotFound, .notInteractive),
        (.missingEntitlement, .notInteractive), (.dataTooLarge, .notInteractive),
        (.exportNotAllowed, .notInteractive), (.keyUsageNotAllowed, .notInteractive),
        (.enclaveUnavailable, .notInteractive),
        (.interactionNotAllowed, .notInteractive), (.itemAuthenticationFailed, .authenticationFailed),
        (.passcodeClassUnavailable, .passcodeNotSet), (.enrolmentBindingUnavailable, .biometryNotAvailable),
        (.authenticationFailed, .authenticationFailed), (.userCancel, .userCancel), (.interrupted, .userCancel),
        (.userFallback, .userFallback),
        (.systemCancel, .systemCancel), (.passcodeNotSet, .passcodeNotSet),
        (.biometryNotAvailable, .biometryNotAvailable), (.biometryNotEnrolled, .biometryNotEnrolled),
        (.biometryLockout, .biometryLockout), (.appCancel, .appCancel), (.invalidContext, .invalidContext),
        (.companionNotAvailable, .companionNotAvailable), (.biometryNotPaired, .biometryNotPaired),
        (.biometryDisconnected, .biometryDisconnected), (.invalidDimensions, .invalidDimensions),
        (.notInteractive, .notInteractive), (.passcodeDelayed, .authenticationFailed), (.promptDelayed, .userCancel),
    ]

    @Test func everyStatusHasItsCode() {
        for (status, code) in Self.rows { #expect(status.localAuthenticationCode == code, "\(status)") }
    }

    @Test func everyStatusHasExactlyOneRow() {
        #expect(Set(Self.rows.map(\.0)) == Set(Status.allCases))
        #expect(Self.rows.count == Status.allCases.count)
    }
}
