// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication

/// What an app does after an authentication that did not succeed.
public enum RecoveryAdvice: Hashable, Sendable, CaseIterable {
    /// Let the person try again.
    case tryAgain
    /// Do nothing and say nothing: the person, or the app itself, ended it.
    case doNothing
    /// Show the app's own way in, such as its password: the person asked for it.
    case showOwnWay
    /// Offer another way to authenticate: biometry cannot be used here.
    case offerAnotherWay
    /// Tell how a finger or face is enrolled in the settings.
    case explainEnrolment
    /// Ask for the passcode, by `LAPolicy.deviceOwnerAuthentication`.
    case askForPasscode
    /// Tell how the accessory or device is paired.
    case explainPairing
    /// Ask the person to connect the accessory again.
    case askToReconnect
    /// Tell how a passcode is set.
    case explainPasscode
    /// Make a new context: this one was invalidated.
    case makeNewContext
    /// Ask when the app is in front and may show something.
    case askLater
    /// Correct the program: it asked for something that cannot be.
    case correctProgram

    // Codes that some Apple platforms have no name for.
    private static let companionNotAvailable = -11
    private static let biometryNotPaired = -12
    private static let biometryDisconnected = -13
    private static let invalidDimensions = -14

    /// The advice for a code of `LAError`; an unknown code, of a system newer than this module, is `offerAnotherWay`.
    public init(for code: LAError.Code) {
        switch code {
        case .authenticationFailed: self = .tryAgain
        case .userCancel, .appCancel: self = .doNothing
        case .userFallback: self = .showOwnWay
        case .systemCancel, .notInteractive: self = .askLater
        case .passcodeNotSet: self = .explainPasscode
        case .biometryNotAvailable: self = .offerAnotherWay
        case .biometryNotEnrolled: self = .explainEnrolment
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

    /// A sentence for the person that names the sensor there is; nil where nothing is to be said.
    ///
    /// - Parameter sensor: the kind of sensor of the device, nil for none.
    public func sentence(sensor: Biometry?) -> String? {
        let name = sensor?.name ?? "Biometry"
        return switch self {
        case .tryAgain: "You were not recognised. Try again."
        case .doNothing: nil
        case .showOwnWay: "Enter your password."
        case .offerAnotherWay: "\(name) cannot be used. Enter your password."
        case .explainEnrolment: "\(name) is not set up. Enrol a \(sensor?.bodyPart ?? "finger") in the settings."
        case .askForPasscode: "\(name) is locked after too many tries. Enter the device's passcode."
        case .explainPairing: "The device that should confirm is not here or not paired. Pair it in the settings."
        case .askToReconnect: "The accessory with the sensor is not connected. Connect it again."
        case .explainPasscode: "The device has no passcode. Set one in the settings."
        case .makeNewContext: "The authentication had ended. Try again."
        case .askLater: "Nobody can be asked now. Try again when the app is in front."
        case .correctProgram: "The app asked in a way that cannot work."
        }
    }
}
