// SPDX-License-Identifier: Apache-2.0

/// Every way in which a request can end other than with its result: the closed set that travels on the wire.
///
/// The API modules translate it into `OSStatus` and `LAError`, each in one file, totally. Numbers are part of
/// the wire format (`docs/protocol.md`) and never reused.
package enum Status: UInt16, CaseIterable, Sendable, Error {
    // 1...: the request itself.
    case malformedRequest = 1
    case unsupportedVersion = 2
    case limitExceeded = 3
    case timedOut = 4
    case internalFailure = 5
    case unimplemented = 6
    case notPermitted = 7
    case cancelled = 8

    // 20...: the daemon and its store.
    case daemonUnavailable = 20
    case storeUnreadable = 21
    case storeOfAnotherTier = 22
    case storeNewer = 23
    case storeOfAnotherUser = 24
    case storeRolledBack = 25
    case storeReadOnly = 26
    case diskFull = 27
    case noHome = 28
    case peerNotTrusted = 29
    /// The store has a format that this program does not read any more.
    case storeOlder = 30
    /// The file `anchor` is missing or fails authentication.
    case anchorMissing = 31
    /// The file `anchor` is older than the database.
    case anchorOld = 32
    /// A security event (a new passcode, another enrolment set ...) was not written to the end.
    case eventUnfinished = 33

    // 40...: keychain items.
    case invalidParameter = 40
    case noSuchClass = 41
    case noSuchAttribute = 42
    case duplicateItem = 43
    case itemNotFound = 44
    case missingEntitlement = 45
    case dataTooLarge = 46
    case interactionNotAllowed = 47
    case itemAuthenticationFailed = 48
    case passcodeClassUnavailable = 49
    case enrolmentBindingUnavailable = 50
    /// A private key that never leaves where it is was asked for.
    case exportNotAllowed = 51
    /// The access control of a key lacks `privateKeyUsage`.
    case keyUsageNotAllowed = 52
    /// There is no Secure Enclave here, or none that was chosen.
    case enclaveUnavailable = 53

    // 70...: authentication.
    case authenticationFailed = 70
    case userCancel = 71
    case userFallback = 72
    case systemCancel = 73
    case passcodeNotSet = 74
    case biometryNotAvailable = 75
    case biometryNotEnrolled = 76
    case biometryLockout = 77
    case appCancel = 78
    case invalidContext = 79
    case companionNotAvailable = 80
    case biometryNotPaired = 81
    case biometryDisconnected = 82
    case invalidDimensions = 83
    case notInteractive = 84
    case passcodeDelayed = 85
}
