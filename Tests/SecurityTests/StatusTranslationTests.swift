// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Security
import Testing

/// The `OSStatus` that the app receives for each status.
@Suite struct StatusTranslationTests {
    private static let rows: [(Status, OSStatus)] = [
        (.malformedRequest, -909), (.unsupportedVersion, -25310), (.limitExceeded, -108), (.timedOut, -25291),
        (.internalFailure, -2070), (.unimplemented, -4), (.notPermitted, -50), (.cancelled, -128),
        (.daemonUnavailable, -25291), (.storeUnreadable, -25295), (.storeOfAnotherTier, -25295),
        (.storeNewer, -25310), (.storeOfAnotherUser, -25295), (.storeRolledBack, -25308),
        (.storeOlder, -25310), (.anchorMissing, -25295), (.anchorOld, -25308), (.eventUnfinished, -25308),
        (.rootKeyMissing, -25295), (.vaultUnavailable, -25291), (.tpmReplaced, -25308), (.anchorGone, -25308),
        (.storeOfEarlierAccount, -25295),
        (.storeReadOnly, -25292),
        (.diskFull, -34), (.noHome, -25291), (.peerNotTrusted, -25291), (.invalidParameter, -50),
        (.noSuchClass, -25306), (.noSuchAttribute, -25303), (.duplicateItem, -25299), (.itemNotFound, -25300),
        (.missingEntitlement, -34018), (.dataTooLarge, -25302), (.interactionNotAllowed, -25308),
        (.itemAuthenticationFailed, -25293), (.passcodeClassUnavailable, -25293),
        (.enrolmentBindingUnavailable, -25293), (.authenticationFailed, -25293), (.userCancel, -128),
        (.interrupted, -128),
        (.userFallback, -25293), (.systemCancel, -25293), (.passcodeNotSet, -25293),
        (.biometryNotAvailable, -25293), (.biometryNotEnrolled, -25293), (.biometryLockout, -25293),
        (.appCancel, -25293), (.invalidContext, -25293), (.companionNotAvailable, -25293),
        (.biometryNotPaired, -25293), (.biometryDisconnected, -25293), (.invalidDimensions, -25293),
        (.notInteractive, -25308), (.passcodeDelayed, -25293), (.promptDelayed, -128), (.exportNotAllowed, -4),
        (.keyUsageNotAllowed, -25293),
        (.enclaveUnavailable, -25291),
    ]

    @Test func everyStatusMapsToItsOSStatus_LA42() {
        for (status, number) in Self.rows { #expect(status.osStatus == number, "\(status)") }
    }

    @Test func everyStatusHasExactlyOneRow() {
        #expect(Set(Self.rows.map(\.0)) == Set(Status.allCases))
        #expect(Self.rows.count == Status.allCases.count)
    }

    @Test func noStatusMapsToSuccess() {
        #expect(Status.allCases.allSatisfy { $0.osStatus != errSecSuccess })
    }
}
