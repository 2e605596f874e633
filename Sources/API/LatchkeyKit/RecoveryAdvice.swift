// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication

/// What an app should do after an authentication that did not succeed.
public enum RecoveryAdvice: Hashable, Sendable, CaseIterable {
    /// Let the user try again.
    case tryAgain
    /// Do nothing and show nothing: the user or the app itself ended the authentication.
    case doNothing
    /// Show the app's own login, such as its password: the user asked for it.
    case showOwnWay
    /// Offer another way to authenticate: biometry cannot be used here.
    case offerAnotherWay
    /// Tell the user how to enroll a finger or a face in the settings.
    case explainEnrollment
    /// Ask for the passcode, with `LAPolicy.deviceOwnerAuthentication`.
    case askForPasscode
    /// Tell the user how to pair the accessory or device.
    case explainPairing
    /// Ask the user to connect the accessory again.
    case askToReconnect
    /// Tell the user how to set a passcode.
    case explainPasscode
    /// Create a new context: the old one was invalidated.
    case makeNewContext
    /// Try again when the app is in the foreground and can show a prompt.
    case askLater
    /// Correct the program: the call was wrong.
    case correctProgram

    // The raw values of codes that some Apple platforms do not declare.
    private static let companionNotAvailable = -11
    private static let biometryNotPaired = -12
    private static let biometryDisconnected = -13
    private static let invalidDimensions = -14

    /// Returns the advice for an error code.
    ///
    /// - Parameter code: the code. A code that this version does not know gives `offerAnotherWay`.
    public init(for code: LAError.Code) {
        switch code {
        case .authenticationFailed: self = .tryAgain
        case .userCancel, .appCancel: self = .doNothing
        case .userFallback: self = .showOwnWay
        case .systemCancel, .notInteractive: self = .askLater
        case .passcodeNotSet: self = .explainPasscode
        case .biometryNotAvailable: self = .offerAnotherWay
        case .biometryNotEnrolled: self = .explainEnrollment
        case .biometryLockout: self = .askForPasscode
        case .invalidContext: self = .makeNewContext
        default:
            switch code.rawValue {
            case Self.companionNotAvailable, Self.biometryNotPaired: self = .explainPairing
            case Self.biometryDisconnected: self = .askToReconnect
            case Self.invalidDimensions: self = .correctProgram
            default: self = .offerAnotherWay
            }
        }
    }

    /// Returns a sentence that tells the user what to do.
    ///
    /// - Parameter sensor: the sensor to name in the sentence; nil for a device without one.
    /// - Returns: the sentence; nil for `doNothing`.
    public func sentence(sensor: Biometry?) -> String? {
        let name = sensor?.name ?? "Biometry"
        return switch self {
        case .tryAgain: "You were not recognised. Try again."
        case .doNothing: nil
        case .showOwnWay: "Enter your password."
        case .offerAnotherWay: "\(name) cannot be used. Enter your password."
        case .explainEnrollment: "\(name) is not set up. Enroll a \(sensor?.bodyPart ?? "finger") in the settings."
        case .askForPasscode: "\(name) is locked after too many tries. Enter the device's passcode."
        case .explainPairing: "The device that confirms is not nearby or not paired. Pair it in the settings."
        case .askToReconnect: "The accessory with the sensor is not connected. Connect it again."
        case .explainPasscode: "The device has no passcode. Set one in the settings."
        case .makeNewContext: "The authentication has ended. Try again."
        case .askLater: "Authentication is not possible now. Try again when the app is in the foreground."
        case .correctProgram: "The app requested authentication in a way that cannot succeed."
        }
    }
}
