// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

/// Whether biometry can be used now, and its kind.
///
/// The kind is known also when biometry cannot be used, so that settings can name it. The value is a snapshot: do not
/// store it, since enrolment, lockout and permissions change.
public enum BiometrySupport: Hashable, Sendable {
    /// Biometry can be used now.
    case available(Biometry)
    /// Biometry is locked after too many failed tries, until the passcode is entered.
    case lockedOut(Biometry)
    /// The sensor has no enrolled finger or face.
    case notEnrolled(Biometry)
    /// There is a sensor, but it cannot be used: the app may not use it, it is not connected, or there is no passcode.
    case notAvailable(Biometry)
    /// The device has no biometric sensor.
    case none

    /// The kind of biometry that can be used now; nil when biometry cannot be used.
    public var biometry: Biometry? { if case .available(let kind) = self { kind } else { nil } }

    /// The kind of the sensor, whether usable or not; nil without a sensor.
    public var sensor: Biometry? {
        switch self {
        case .available(let kind), .lockedOut(let kind), .notEnrolled(let kind), .notAvailable(let kind): kind
        case .none: nil
        }
    }

    /// A sentence that says why biometry cannot be used and what to do; nil when it can be used.
    public var explanation: String? {
        switch self {
        case .available: nil
        case .lockedOut(let kind): "\(kind.name) is locked after too many tries. Enter the device's passcode."
        case .notEnrolled(let kind): "\(kind.name) is not set up. Enroll a \(kind.bodyPart) in the settings."
        case .notAvailable(let kind): "\(kind.name) cannot be used now."
        case .none: "This device has no biometric sensor."
        }
    }

    /// Reads the support of biometry from a context.
    ///
    /// Blocks for up to two round trips to the system; never prompts.
    ///
    /// - Parameter context: a new context, or a test double.
    public init(asking context: any BiometryEvaluating) {
        var error: NSError?
        let isPossible = context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error)
        // `biometryType` is set also when the preflight fails; Apple's page says only on success.
        guard let kind = Biometry(context.biometryType) else {
            self = .none
            return
        }
        guard !isPossible else {
            self = .available(kind)
            return
        }
        switch (error as? LAError)?.code {
        case .biometryLockout?: self = .lockedOut(kind)
        case .biometryNotEnrolled?: self = .notEnrolled(kind)
        default: self = .notAvailable(kind)
        }
    }
}
