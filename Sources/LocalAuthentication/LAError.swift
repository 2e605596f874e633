// SPDX-License-Identifier: Apache-2.0

public import Security

/// The domain of errors of this module: "com.apple.LocalAuthentication". Apple: `LAErrorDomain`.
public let LAErrorDomain: String = "com.apple.LocalAuthentication"

/// Why authentication did not succeed. Apple: `LAError`.
///
/// Bridges to and from `NSError`, so that `catch let error as LAError`, `catch LAError.userCancel` and
/// `error as? LAError` work for errors that this module throws and for those that come as `NSError`.
public struct LAError: CustomNSError, Hashable, Sendable, _ObjectiveCBridgeable {
    /// The error as an object.
    public let _nsError: NSError

    /// Takes an error of this domain.
    public init(_nsError error: NSError) { _nsError = error }

    /// Makes an error.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        _nsError = DescribedError(domain: LAErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// The domain: `LAErrorDomain`.
    public static var errorDomain: String { LAErrorDomain }

    /// Why.
    public var code: Code { Code(_nsError.code) }

    /// The details of the error.
    public var userInfo: [String: Any] { _nsError.userInfo }

    /// The number of `code`.
    public var errorCode: Int { _nsError.code }

    /// The details of the error, with our sentence where they bring none: Foundation reads it here for `any Error`.
    public var errorUserInfo: [String: Any] {
        var details = _nsError.userInfo
        if let sentence = DescribedError.sentence(_nsError) { details[NSLocalizedDescriptionKey] = sentence }
        return details
    }

    /// A sentence for a person.
    public var localizedDescription: String { DescribedError.sentence(_nsError) ?? _nsError.localizedDescription }

    /// Whether both errors have the same code and details.
    public static func == (left: LAError, right: LAError) -> Bool { left._nsError == right._nsError }

    /// Equal for equal errors. The object itself cannot be hashed: NSError of corelibs Foundation stops the program.
    public func hash(into hasher: inout Hasher) { hasher.combine(_nsError.code) }

    // MARK: - Bridging

    /// The error as an object.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// Takes an object of this domain; anything else is a mistake of the caller.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
        guard _conditionallyBridgeFromObjectiveC(source, result: &result) else {
            preconditionFailure("the error belongs to the domain \(source.domain), not to \(LAErrorDomain)")
        }
    }

    /// Takes an object of this domain and refuses any other.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) -> Bool {
        result = source.domain == LAErrorDomain ? LAError(_nsError: source) : nil
        return result != nil
    }

    /// Takes an object of this domain.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
        LAError(_nsError: source ?? NSError(domain: LAErrorDomain, code: Code.authenticationFailed.rawValue))
    }

    // MARK: - Codes

    /// The codes. Apple: `LAError.Code`.
    public enum Code: RawRepresentable, Hashable, Sendable {
        /// The person could not prove who they are.
        case authenticationFailed
        /// The person cancelled.
        case userCancel
        /// The person chose the fallback button.
        case userFallback
        /// The system ended the prompt.
        case systemCancel
        /// No passcode is set.
        case passcodeNotSet
        /// There is no sensor, or the app may not use it.
        case biometryNotAvailable
        /// No finger or face is enrolled.
        case biometryNotEnrolled
        /// Biometry is locked until a passcode is entered.
        case biometryLockout
        /// The app invalidated the context.
        case appCancel
        /// The context was invalidated before.
        case invalidContext
        /// No paired device is nearby.
        case companionNotAvailable
        /// The accessory with the sensor is not paired.
        case biometryNotPaired
        /// The accessory with the sensor is not connected.
        case biometryDisconnected
        /// An embedded view has impossible dimensions.
        case invalidDimensions
        /// There would have to be a prompt, and there may be none.
        case notInteractive
        /// A number that has no name here.
        ///
        /// > Note: Linux: an imported enumeration holds every number; a Swift enumeration needs a case for the others.
        case other(Int)

        /// Old name of `companionNotAvailable`.
        @available(*, deprecated, renamed: "companionNotAvailable")
        public static var watchNotAvailable: Code { .companionNotAvailable }
        /// Old name of `biometryNotAvailable`.
        @available(*, deprecated, renamed: "biometryNotAvailable")
        public static var touchIDNotAvailable: Code { .biometryNotAvailable }
        /// Old name of `biometryNotEnrolled`.
        @available(*, deprecated, renamed: "biometryNotEnrolled")
        public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
        /// Old name of `biometryLockout`.
        @available(*, deprecated, renamed: "biometryLockout")
        public static var touchIDLockout: Code { .biometryLockout }

        /// Lets `catch LAError.userCancel` match an error of this domain.
        public static func ~= (match: Code, error: any Error) -> Bool {
            let error = error as NSError
            return error.domain == LAErrorDomain && error.code == match.rawValue
        }
    }

    /// The code `authenticationFailed`.
    public static var authenticationFailed: Code { .authenticationFailed }
    /// The code `userCancel`.
    public static var userCancel: Code { .userCancel }
    /// The code `userFallback`.
    public static var userFallback: Code { .userFallback }
    /// The code `systemCancel`.
    public static var systemCancel: Code { .systemCancel }
    /// The code `passcodeNotSet`.
    public static var passcodeNotSet: Code { .passcodeNotSet }
    /// The code `biometryNotAvailable`.
    public static var biometryNotAvailable: Code { .biometryNotAvailable }
    /// The code `biometryNotEnrolled`.
    public static var biometryNotEnrolled: Code { .biometryNotEnrolled }
    /// The code `biometryLockout`.
    public static var biometryLockout: Code { .biometryLockout }
    /// The code `appCancel`.
    public static var appCancel: Code { .appCancel }
    /// The code `invalidContext`.
    public static var invalidContext: Code { .invalidContext }
    /// The code `companionNotAvailable`.
    public static var companionNotAvailable: Code { .companionNotAvailable }
    /// The code `biometryNotPaired`.
    public static var biometryNotPaired: Code { .biometryNotPaired }
    /// The code `biometryDisconnected`.
    public static var biometryDisconnected: Code { .biometryDisconnected }
    /// The code `invalidDimensions`.
    public static var invalidDimensions: Code { .invalidDimensions }
    /// The code `notInteractive`.
    public static var notInteractive: Code { .notInteractive }
    /// Old name of `companionNotAvailable`.
    @available(*, deprecated, renamed: "companionNotAvailable")
    public static var watchNotAvailable: Code { .companionNotAvailable }
    /// Old name of `biometryNotAvailable`.
    @available(*, deprecated, renamed: "biometryNotAvailable")
    public static var touchIDNotAvailable: Code { .biometryNotAvailable }
    /// Old name of `biometryNotEnrolled`.
    @available(*, deprecated, renamed: "biometryNotEnrolled")
    public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
    /// Old name of `biometryLockout`.
    @available(*, deprecated, renamed: "biometryLockout")
    public static var touchIDLockout: Code { .biometryLockout }
}
