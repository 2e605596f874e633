// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

/// What biometry can do on this device now, and which kind it is, in one value.
///
/// The kind is known also where biometry cannot be used, so that settings may name it. The value is a snapshot: do not
/// keep it, since fingers, locks and permissions change between two calls.
public enum BiometrySupport: Hashable, Sendable {
    /// It can be used.
    case available(Biometry)
    /// Too many tries failed; the passcode unlocks it.
    case lockedOut(Biometry)
    /// Nothing is enrolled with the sensor.
    case notEnrolled(Biometry)
    /// There is a sensor, and it cannot be used: the app may not, it is not connected, or the device has no passcode.
    case notAvailable(Biometry)
    /// There is no sensor.
    case none

    /// The kind that can be used now; nil where biometry cannot be used.
    public var biometry: Biometry? { if case .available(let kind) = self { kind } else { nil } }

    /// The kind of the sensor, whether it can be used or not; nil without one.
    public var sensor: Biometry? {
        switch self {
        case .available(let kind), .lockedOut(let kind), .notEnrolled(let kind), .notAvailable(let kind): kind
        case .none: nil
        }
    }

    /// A sentence that says why biometry cannot be used and what to do; nil where it can.
    public var explanation: String? {
        switch self {
        case .available: nil
        case .lockedOut(let kind): "\(kind.name) is locked after too many tries. Enter the device's passcode."
        case .notEnrolled(let kind): "\(kind.name) is not set up. Enrol a \(kind.bodyPart) in the settings."
        case .notAvailable(let kind): "\(kind.name) cannot be used now."
        case .none: "This device has no biometric sensor."
        }
    }

    /// Asks a context. Blocks for one round trip to the system; never prompts.
    ///
    /// - Parameter context: a fresh context, or a test double.
    public init(asking context: any BiometryEvaluating) {
        var error: NSError?
        let isPossible = context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error)
        // The kind is set whatever the answer was, against what Apple's page says of `biometryType`.
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
