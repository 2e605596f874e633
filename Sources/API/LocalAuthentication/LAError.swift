// SPDX-License-Identifier: Apache-2.0

public import Security

/// The error domain of this module, "com.apple.LocalAuthentication". Apple: `LAErrorDomain`.
public let LAErrorDomain: String = "com.apple.LocalAuthentication"

/// Why authentication did not succeed. Apple: `LAError`.
///
/// Bridges to and from `NSError`, so that `catch let error as LAError`, `catch LAError.userCancel` and
/// `error as? LAError` work both for errors that this module throws and for an `NSError` of this domain.
public struct LAError: CustomNSError, Hashable, Sendable, _ObjectiveCBridgeable {
    /// The underlying error object.
    public let _nsError: NSError

    /// Wraps an error object.
    ///
    /// - Parameter error: an error of the domain `LAErrorDomain`. The domain is not checked.
    public init(_nsError error: NSError) { _nsError = error }

    /// Creates an error of this domain. Apple: `LAError.init(_:userInfo:)`.
    ///
    /// - Parameters:
    ///   - code: why authentication failed.
    ///   - userInfo: details, by `NSError` keys such as `NSLocalizedDescriptionKey`.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        _nsError = DescribedError(domain: LAErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// The domain of these errors, `LAErrorDomain`. Apple: `LAError.errorDomain`.
    public static var errorDomain: String { LAErrorDomain }

    /// Why authentication did not succeed. Apple: `LAError.code`.
    public var code: Code { Code(_nsError.code) }

    /// The details that the error was created with. Apple: `LAError.userInfo`.
    public var userInfo: [String: Any] { _nsError.userInfo }

    /// The number of `code`. Apple: `LAError.errorCode`.
    public var errorCode: Int { _nsError.code }

    /// The details of the error, with a description added if they have none. Apple: `LAError.errorUserInfo`.
    ///
    /// > Note: Linux: Foundation reads the description of an `any Error` from here.
    public var errorUserInfo: [String: Any] {
        var details = _nsError.userInfo
        if let sentence = DescribedError.sentence(_nsError) { details[NSLocalizedDescriptionKey] = sentence }
        return details
    }

    /// A sentence that says what happened, for display. Apple: `LAError.localizedDescription`.
    public var localizedDescription: String { DescribedError.sentence(_nsError) ?? _nsError.localizedDescription }

    /// Returns whether two errors have equal codes and details. Apple: `LAError.==(_:_:)`.
    ///
    /// - Parameters:
    ///   - left: an error.
    ///   - right: another error.
    /// - Returns: true when code and `userInfo` are equal.
    public static func == (left: LAError, right: LAError) -> Bool { left._nsError == right._nsError }

    /// Hashes the code. Apple: `LAError.hash(into:)`.
    ///
    /// > Note: Linux: hashing the `NSError` itself would stop the program in corelibs Foundation.
    ///
    /// - Parameter hasher: receives the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(_nsError.code) }

    // MARK: - Bridging

    /// Returns the underlying error object, for `as NSError`.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// Converts an error object, for `as! LAError`. Stops the program when the error is of another domain.
    ///
    /// - Parameters:
    ///   - source: an error of the domain `LAErrorDomain`.
    ///   - result: set to the converted error.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
        guard _conditionallyBridgeFromObjectiveC(source, result: &result) else {
            preconditionFailure("the error belongs to the domain \(source.domain), not to \(LAErrorDomain)")
        }
    }

    /// Converts an error object, for `as? LAError`.
    ///
    /// - Parameters:
    ///   - source: the error to convert.
    ///   - result: set to the converted error, or to nil for another domain.
    /// - Returns: whether `source` is of the domain `LAErrorDomain`.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) -> Bool {
        result = source.domain == LAErrorDomain ? LAError(_nsError: source) : nil
        return result != nil
    }

    /// Converts an error object without a check, for calls that the compiler generates.
    ///
    /// - Parameter source: an error of the domain `LAErrorDomain`; nil gives `authenticationFailed`.
    /// - Returns: the converted error.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
        LAError(_nsError: source ?? NSError(domain: LAErrorDomain, code: Code.authenticationFailed.rawValue))
    }

    // MARK: - Error codes

    /// Why authentication did not succeed. Apple: `LAError.Code`.
    public enum Code: RawRepresentable, Hashable, Sendable {
        /// The user was not recognised, or too many tries failed. Apple: `LAError.Code.authenticationFailed`.
        case authenticationFailed
        /// The user pressed the cancel button. Apple: `LAError.Code.userCancel`.
        case userCancel
        /// The user pressed the fallback button of a biometric policy. Apple: `LAError.Code.userFallback`.
        case userFallback
        /// The system ended the prompt: the device was locked, the app went to the background, or the prompt was not
        /// answered for 60 seconds. Apple: `LAError.Code.systemCancel`.
        case systemCancel
        /// No passcode is set on the device. Apple: `LAError.Code.passcodeNotSet`.
        case passcodeNotSet
        /// There is no sensor, or the app may not use it. Apple: `LAError.Code.biometryNotAvailable`.
        case biometryNotAvailable
        /// No finger or face is enrolled. Apple: `LAError.Code.biometryNotEnrolled`.
        case biometryNotEnrolled
        /// Biometry is locked until the passcode is entered. Apple: `LAError.Code.biometryLockout`.
        case biometryLockout
        /// The app invalidated the context during the evaluation. Apple: `LAError.Code.appCancel`.
        case appCancel
        /// The context was invalidated before the call. Apple: `LAError.Code.invalidContext`.
        case invalidContext
        /// No paired device is nearby. Apple: `LAError.Code.companionNotAvailable`.
        case companionNotAvailable
        /// The accessory with the sensor is not paired. Apple: `LAError.Code.biometryNotPaired`.
        case biometryNotPaired
        /// The accessory with the sensor is not connected. Apple: `LAError.Code.biometryDisconnected`.
        case biometryDisconnected
        /// An embedded authentication view has invalid dimensions. Apple: `LAError.Code.invalidDimensions`.
        case invalidDimensions
        /// A prompt is needed but not allowed or not possible; also when the daemon cannot be reached. Apple:
        /// `LAError.Code.notInteractive`.
        case notInteractive
        /// A number that has no name in this version.
        ///
        /// > Note: Linux: a value of Apple's imported enumeration can have any number; a Swift enumeration needs a case
        /// > for numbers without a name.
        case other(Int)

        /// Deprecated name of `companionNotAvailable`. Apple: `LAError.Code.watchNotAvailable`.
        @available(*, deprecated, renamed: "companionNotAvailable")
        public static var watchNotAvailable: Code { .companionNotAvailable }
        /// Deprecated name of `biometryNotAvailable`. Apple: `LAError.Code.touchIDNotAvailable`.
        @available(*, deprecated, renamed: "biometryNotAvailable")
        public static var touchIDNotAvailable: Code { .biometryNotAvailable }
        /// Deprecated name of `biometryNotEnrolled`. Apple: `LAError.Code.touchIDNotEnrolled`.
        @available(*, deprecated, renamed: "biometryNotEnrolled")
        public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
        /// Deprecated name of `biometryLockout`. Apple: `LAError.Code.touchIDLockout`.
        @available(*, deprecated, renamed: "biometryLockout")
        public static var touchIDLockout: Code { .biometryLockout }

        /// Returns whether an error has this code, so that `catch LAError.userCancel` works. Apple:
        /// `LAError.Code.~=(_:_:)`.
        ///
        /// - Parameters:
        ///   - match: the code of the pattern.
        ///   - error: the error to test.
        /// - Returns: true for an error of the domain `LAErrorDomain` with that code.
        public static func ~= (match: Code, error: any Error) -> Bool {
            let error = error as NSError
            return error.domain == LAErrorDomain && error.code == match.rawValue
        }
    }

    /// The code for a user who was not recognised. Apple: `LAError.authenticationFailed`.
    public static var authenticationFailed: Code { .authenticationFailed }
    /// The code for a prompt that the user cancelled. Apple: `LAError.userCancel`.
    public static var userCancel: Code { .userCancel }
    /// The code for a user who pressed the fallback button. Apple: `LAError.userFallback`.
    public static var userFallback: Code { .userFallback }
    /// The code for a prompt that the system ended. Apple: `LAError.systemCancel`.
    public static var systemCancel: Code { .systemCancel }
    /// The code for a device without a passcode. Apple: `LAError.passcodeNotSet`.
    public static var passcodeNotSet: Code { .passcodeNotSet }
    /// The code for a sensor that is missing or may not be used. Apple: `LAError.biometryNotAvailable`.
    public static var biometryNotAvailable: Code { .biometryNotAvailable }
    /// The code for a sensor with nothing enrolled. Apple: `LAError.biometryNotEnrolled`.
    public static var biometryNotEnrolled: Code { .biometryNotEnrolled }
    /// The code for biometry that is locked after too many failures. Apple: `LAError.biometryLockout`.
    public static var biometryLockout: Code { .biometryLockout }
    /// The code for an evaluation that the app ended. Apple: `LAError.appCancel`.
    public static var appCancel: Code { .appCancel }
    /// The code for a context that was invalidated before. Apple: `LAError.invalidContext`.
    public static var invalidContext: Code { .invalidContext }
    /// The code for a paired device that is not nearby. Apple: `LAError.companionNotAvailable`.
    public static var companionNotAvailable: Code { .companionNotAvailable }
    /// The code for an accessory that is not paired. Apple: `LAError.biometryNotPaired`.
    public static var biometryNotPaired: Code { .biometryNotPaired }
    /// The code for an accessory that is not connected. Apple: `LAError.biometryDisconnected`.
    public static var biometryDisconnected: Code { .biometryDisconnected }
    /// The code for an embedded view with invalid dimensions. Apple: `LAError.invalidDimensions`.
    public static var invalidDimensions: Code { .invalidDimensions }
    /// The code for a prompt that may not or cannot be shown. Apple: `LAError.notInteractive`.
    public static var notInteractive: Code { .notInteractive }
    /// Deprecated name of `companionNotAvailable`. Apple: `LAError.watchNotAvailable`.
    @available(*, deprecated, renamed: "companionNotAvailable")
    public static var watchNotAvailable: Code { .companionNotAvailable }
    /// Deprecated name of `biometryNotAvailable`. Apple: `LAError.touchIDNotAvailable`.
    @available(*, deprecated, renamed: "biometryNotAvailable")
    public static var touchIDNotAvailable: Code { .biometryNotAvailable }
    /// Deprecated name of `biometryNotEnrolled`. Apple: `LAError.touchIDNotEnrolled`.
    @available(*, deprecated, renamed: "biometryNotEnrolled")
    public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
    /// Deprecated name of `biometryLockout`. Apple: `LAError.touchIDLockout`.
    @available(*, deprecated, renamed: "biometryLockout")
    public static var touchIDLockout: Code { .biometryLockout }
}
