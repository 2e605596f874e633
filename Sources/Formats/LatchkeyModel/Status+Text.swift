// SPDX-License-Identifier: Apache-2.0

/// A sentence that says what happened, and what to do about it.
private struct StatusText {
    let sentence: Phrase
    let advice: Phrase

    init(_ sentence: Phrase, _ advice: Phrase = "") { (self.sentence, self.advice) = (sentence, advice) }
}

/// The text of each status for a person and for a script; `Tests/LatchkeyModelTests/StatusTests.swift` has the table
/// again.
extension Status {
    /// A sentence that says what happened, for a failure without a message of its own.
    package var sentence: Phrase { text.sentence }

    /// What to do about it, for a failure without a hint of its own; empty if there is nothing to do.
    package var advice: Phrase { text.advice }

    private var text: StatusText {
        switch self {
        case .malformedRequest:
            StatusText("The request could not be read.", "Install the same version of all programs.")
        case .unsupportedVersion:
            StatusText("The versions do not fit together.", "Install the same version of all programs.")
        case .limitExceeded: StatusText("A limit of the keychain is reached.", "Try again later.")
        case .timedOut: StatusText("The time limit has passed.", "Try again.")
        case .internalFailure: StatusText("An internal error occurred.", "See: latchkey log --daemon")
        case .unimplemented: StatusText("This is not supported.")
        case .notPermitted: StatusText("This is not permitted.")
        case .cancelled: StatusText("The request was cancelled.")
        case .daemonUnavailable: StatusText("The keychain is not available.", "See: latchkey doctor")
        case .storeUnreadable: StatusText("The store cannot be read.", "See: latchkey check")
        case .storeOfAnotherTier: StatusText("The store was made for another tier.", "See: latchkey doctor")
        case .storeNewer: StatusText("A newer version has made the store.", "Install the newest version.")
        case .storeOfAnotherUser: StatusText("The store belongs to another user.", "See: latchkey doctor")
        case .storeRolledBack: StatusText("The store is older than it was.", "See: latchkey check")
        case .storeReadOnly: StatusText("The store cannot be written.", "See: latchkey doctor")
        case .diskFull: StatusText("There is no space left.", "Free some space and try again.")
        case .noHome:
            StatusText("There is no home folder for the store.", "Set HOME, or LATCHKEY_HOME to a folder of yours.")
        case .peerNotTrusted: StatusText("The other program is not trusted.", "See: latchkey doctor")
        case .storeOlder: StatusText("The store has a version that is no longer read.")
        case .anchorMissing: StatusText("The anchor of the store is missing.", "See: latchkey check")
        case .anchorOld: StatusText("The anchor of the store is older than the store.", "See: latchkey check")
        case .eventUnfinished: StatusText("A change of the store was interrupted.", "See: latchkey check")
        case .rootKeyMissing: StatusText("The key of the store is missing.", "See: latchkey check")
        case .vaultUnavailable: StatusText("The key of the store cannot be read now.", "See: latchkey doctor")
        case .tpmReplaced: StatusText("The store was made with another TPM.", "See: latchkey recover --help")
        case .anchorGone:
            StatusText("The counter of the store is missing from the TPM.", "See: latchkey recover --help")
        case .storeOfEarlierAccount: StatusText("The store belongs to an earlier account of the same number.")
        case .invalidParameter: StatusText("A value is not valid.")
        case .noSuchClass: StatusText("There is no such class of items.")
        case .noSuchAttribute: StatusText("There is no such attribute.")
        case .duplicateItem: StatusText("The item exists already.", "Replace it with --replace, or delete it first.")
        case .itemNotFound: StatusText("No item matches.", "See: latchkey list")
        case .missingEntitlement: StatusText("The program has no access to this group.")
        case .dataTooLarge: StatusText("The data is too large.", "Use a shorter input.")
        case .interactionNotAllowed: StatusText("A prompt is needed, but it may not be shown.")
        case .itemAuthenticationFailed: StatusText("The item could not be opened.")
        case .passcodeClassUnavailable: StatusText("No passcode is set.", "Set one with: latchkey passcode set")
        case .enrolmentBindingUnavailable: StatusText("The sensor does not report which fingers are enrolled.")
        case .exportNotAllowed: StatusText("The private key cannot be exported.")
        case .keyUsageNotAllowed: StatusText("The key does not permit this use.")
        case .enclaveUnavailable: StatusText("No secure enclave is available.", "See: latchkey doctor")
        case .authenticationFailed: StatusText("Authentication failed.")
        case .userCancel, .interrupted: StatusText("Authentication was cancelled.")
        case .userFallback: StatusText("Another way to authenticate was chosen.")
        case .systemCancel: StatusText("Authentication was ended by the system.", "Try again.")
        case .passcodeNotSet: StatusText("No passcode is set.", "Set one with: latchkey passcode set")
        case .biometryNotAvailable: StatusText("The sensor is not available.", "See: latchkey doctor")
        case .biometryNotEnrolled: StatusText("No finger is enrolled.", "Enroll one with: latchkey fingerprint enroll")
        case .biometryLockout: StatusText("The sensor is locked after too many failed tries.", "Enter the passcode.")
        case .appCancel: StatusText("Authentication was ended by the app.")
        case .invalidContext: StatusText("The authentication has ended before.")
        case .companionNotAvailable: StatusText("No paired device is nearby.")
        case .biometryNotPaired: StatusText("The sensor is not paired.")
        case .biometryDisconnected: StatusText("The sensor was disconnected.", "Connect it and try again.")
        case .invalidDimensions: StatusText("The view for authentication has invalid dimensions.")
        case .notInteractive: StatusText("A prompt is needed, but it may not be shown.")
        case .passcodeDelayed: StatusText("The passcode cannot be tried yet.", "Wait, and try again.")
        case .promptDelayed: StatusText("No prompt is shown for this program yet.", "Wait, and try again.")
        }
    }

    /// The exit status of a command (sysexits(3)), so that scripts can distinguish the cases.
    package var exitCode: Int32 {
        switch self {
        case .itemNotFound: 66
        case .daemonUnavailable, .noHome, .peerNotTrusted, .timedOut: 69
        case .duplicateItem: 73
        case .interrupted: 130
        case .authenticationFailed, .itemAuthenticationFailed, .userCancel, .userFallback, .systemCancel,
            .passcodeNotSet,
            .biometryNotAvailable, .biometryNotEnrolled, .biometryLockout, .biometryDisconnected, .biometryNotPaired,
            .companionNotAvailable, .appCancel, .notInteractive, .interactionNotAllowed, .passcodeDelayed,
            .promptDelayed,
            .missingEntitlement, .notPermitted:
            77
        case .malformedRequest, .unsupportedVersion, .limitExceeded, .internalFailure, .unimplemented, .cancelled,
            .storeUnreadable, .storeOfAnotherTier, .storeNewer, .storeOfAnotherUser, .storeRolledBack, .storeReadOnly,
            .diskFull, .storeOlder, .anchorMissing, .anchorOld, .eventUnfinished, .rootKeyMissing, .vaultUnavailable,
            .tpmReplaced, .anchorGone, .storeOfEarlierAccount, .invalidParameter, .noSuchClass, .noSuchAttribute,
            .dataTooLarge, .passcodeClassUnavailable, .enrolmentBindingUnavailable, .exportNotAllowed,
            .keyUsageNotAllowed, .enclaveUnavailable, .invalidContext, .invalidDimensions:
            1
        }
    }
}

extension Failure {
    /// What happened, for people: the message, or what its status says.
    package var text: Phrase { message.isEmpty ? status.sentence : message }

    /// What to do about it, for people: the hint, or what its status says if there is no message either.
    package var advice: Phrase { hint.isEmpty && message.isEmpty ? status.advice : hint }
}
