// SPDX-License-Identifier: Apache-2.0

/// The error codes of failed requests, a closed set that is part of the wire format.
///
/// Each API module translates every code into `OSStatus` or `LAError`, in one file. Raw values are documented in
/// `docs/reference/protocol.md` and never reused.
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
    /// The store has a format version that this program no longer reads.
    case storeOlder = 30
    /// The file `anchor` is missing or fails authentication.
    case anchorMissing = 31
    /// The file `anchor` is older than the database.
    case anchorOld = 32
    /// Writing a security event (such as a new passcode or enrolment set) was interrupted.
    case eventUnfinished = 33
    case rootKeyMissing = 34
    /// The vault cannot be read now, or its device refuses to unseal the root key.
    case vaultUnavailable = 35
    /// The monotonic counter is not the one that the store was used with.
    case tpmReplaced = 36
    /// The monotonic counter of the store does not exist.
    case anchorGone = 37
    /// The store, or the passcode's records, were made for another account that had the same user number.
    case storeOfEarlierAccount = 38

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
    /// The private key cannot be exported from its token.
    case exportNotAllowed = 51
    /// The access control of a key lacks `privateKeyUsage`.
    case keyUsageNotAllowed = 52
    /// No Secure Enclave is available, or none is configured.
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
    /// The user ended the prompt by Ctrl-C. For an app it is a cancellation; a command then ends as every other program.
    case interrupted = 86
    /// No prompt is shown for the program now, because a short time ago the user refused it or did not answer.
    case promptDelayed = 87
}
