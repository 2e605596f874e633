// SPDX-License-Identifier: Apache-2.0

internal import Foundation

// Sentences for people. None contains a text of the server or of the caller.

extension SignInError {
    /// What happened, for display.
    public var errorDescription: String? {
        switch kind {
        case .invalidServer(.address): "The address of the server is not acceptable."
        case .invalidServer(.relyingPartyID): "The relying party does not belong to the host of the server."
        case .invalidArgument(let argument): "\(argument.words) is not acceptable."
        case .alreadyRegistered: "This device is registered already."
        case .keyNotFound: "This device has no key for this sign-in."
        case .sessionNotUsable: "The session cannot be used for this."
        case .offline: "The server cannot be reached."
        case .tooSlow: "The server did not answer in time."
        case .certificateNotTrusted: "The server cannot prove that it is the right one."
        case .redirected: "The server sent this app to another address."
        case .unexpectedReply: "The server answered in a way that this app does not understand."
        case .outcomeUnknown(let request): "It is not known whether the server accepted \(request.words)."
        case .otherRelyingParty: "The server asked for a signature for another relying party."
        case .foreignChallenge: "The server asked for a signature for something else."
        case .staleChallenge: "The server asked for a signature that is not for now."
        case .clockDiffers(let minutes):
            "The clock of this device is \(minutes.magnitude) \(minutes.magnitude == 1 ? "minute" : "minutes") "
                + "\(minutes > 0 ? "ahead of" : "behind") the server's."
        case .refused(let request): "The server did not accept \(request.words)."
        case .tooManyTries: "The server accepts no more tries for now."
        case .serverNotAvailable: "The server has a problem."
        case .cancelled: "The sign-in was cancelled."
        case .enrollmentChanged: "The enrolled fingers or faces changed, so the key of this device is no longer valid."
        case .passcodeNotSet: "This device has no passcode."
        case .biometryNotEnrolled: "No finger or face is enrolled on this device."
        case .biometryLockedOut: "The sensor is locked after too many tries."
        case .biometryNotAvailable: "Fingers and faces cannot be used on this device."
        case .notAuthenticated: underlying?.message ?? "You were not recognised."
        case .keychain: underlying?.message ?? "The keychain cannot be used."
        }
    }

    /// What the person can do next, for display; nil when there is nothing to do.
    public var recoverySuggestion: String? {
        switch kind {
        case .invalidServer(.address): "Use an address with https. http is for this device only, and without a proxy."
        case .invalidServer(.relyingPartyID), .invalidArgument, .sessionNotUsable: "Correct the value and try again."
        case .alreadyRegistered: "Sign in, or remove the key of this device first."
        case .keyNotFound: "Register this device with an enrolment code."
        case .offline: "Check the connection to the network, and try again."
        case .tooSlow, .serverNotAvailable: "Try again later."
        case .certificateNotTrusted, .redirected, .otherRelyingParty, .foreignChallenge, .staleChallenge:
            "You were not asked for a finger, and nothing was signed. Tell the operator of the server."
        case .unexpectedReply: "Tell the operator of the server, or update this app."
        case .outcomeUnknown(.registration):
            "Sign in. If that is refused, remove the key and ask for a new enrolment code."
        case .outcomeUnknown: "Sign in again to see whether it took effect."
        case .clockDiffers: "Set the date and time of this device, and try again. Nothing was signed."
        case .refused(.registration):
            "The enrolment code may be wrong, used or too old. Ask the operator for a new one."
        case .refused(.signOut): nil
        case .refused(.signIn):
            "The key of this device may be revoked. Ask the operator of the server for an enrolment code."
        case .refused(.administration):
            "You may be no administrator, or the session may be over. Ask the operator of the server."
        case .refused: "The session may be over, or the key of this device revoked. Sign in again to see."
        case .tooManyTries(let seconds): seconds.map { "Wait \($0) seconds, and try again." } ?? "Wait, and try again."
        case .cancelled: nil
        case .enrollmentChanged: "Remove the key, and register this device with a new enrolment code."
        case .passcodeNotSet: "Set a passcode, and try again."
        case .biometryNotEnrolled: "Enroll a finger or a face, and try again."
        case .biometryLockedOut: "Enter the passcode of this device to unlock the sensor, and try again."
        case .biometryNotAvailable: "Use another way to sign in."
        case .notAuthenticated: underlying?.authentication?.recoverySuggestion ?? "Try again."
        case .keychain: "Run latchkey doctor to see what is wrong."
        }
    }
}

extension SignInError.Argument {
    fileprivate var words: String {
        switch self {
        case .user: "The name of the user"
        case .deviceName: "The name of the device"
        case .enrollmentCode: "The enrolment code"
        case .act: "The description of the act"
        case .revocationTarget: "The choice of keys"
        }
    }
}

extension SignInError.Request {
    fileprivate var words: String {
        switch self {
        case .registration: "the registration"
        case .signIn: "the sign-in"
        case .stepUp: "the approval"
        case .rotation: "the new key"
        case .revocation: "the revocation"
        case .signOut: "the sign-out"
        case .administration: "the opening of the administration"
        }
    }
}
