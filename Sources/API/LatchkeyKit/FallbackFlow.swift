// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

/// Decides which login step an app shows next: biometry, the passcode, or the app's own password.
///
/// A value without side effects: the app shows `step` and reports how it ended.
///
///     var flow = FallbackFlow(ways: [.biometry, .password], support: auth.supportedBiometry)
///     // flow.step is .biometry(.faceID); the user cancels
///     flow.failed(failure)
///     // flow.step is .password(.chosen)
///
/// The app's password is always the last step, so that a sensor cannot lock the user out.
public struct FallbackFlow: Hashable, Sendable {
    /// The login methods that an app offers besides its own password, which it always offers.
    public struct Ways: OptionSet, Hashable, Sendable {
        /// The bits of the option set.
        public let rawValue: Int

        /// Creates an option set from its bits.
        ///
        /// - Parameter rawValue: 1 for biometry, 2 for the passcode, or their sum.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Login by a finger, a face or eyes.
        public static let biometry = Ways(rawValue: 1)
        /// Login by the passcode of the device.
        public static let passcode = Ways(rawValue: 2)
    }

    /// A step that the app shows.
    public enum Step: Hashable, Sendable {
        /// The system's prompt for biometry.
        case biometry(Biometry)
        /// The system's prompt for the passcode, with `LAPolicy.deviceOwnerAuthentication`.
        case passcode
        /// The app's own password, with the reason why it is shown.
        case password(PasswordReason)
        /// The user is logged in by the given method.
        case done(Way)
    }

    /// A method to log in.
    public enum Way: Hashable, Sendable {
        /// Login by a finger, a face or eyes.
        case biometry
        /// Login by the passcode of the device.
        case passcode
        /// Login by the app's own password.
        case password
    }

    /// Why the flow asks for the app's own password.
    public enum PasswordReason: Hashable, Sendable {
        /// The password is the only method: biometry is not offered or not possible.
        case onlyWay
        /// The app requires it, because the enrolled set has changed or no set is trusted yet.
        case demanded
        /// The user chose the password, or cancelled the prompt.
        case chosen
        /// The user was not recognised.
        case notRecognised
        /// Biometry is locked after too many failures.
        case lockedOut
        /// The previous password was wrong.
        case wrongPassword
    }

    /// The step to show now.
    public private(set) var step: Step
    /// How many wrong passwords were reported.
    public private(set) var wrongPasswords = 0
    private let ways: Ways

    /// Begins a flow at its first step.
    ///
    /// - Parameters:
    ///   - ways: the methods that the app offers besides its password.
    ///   - support: what biometry can do now, from `BiometricAuth.supportedBiometry`.
    ///   - demandsPassword: whether only the password is accepted, for example after
    ///     `EnrollmentMonitor.Verdict.changed`.
    public init(ways: Ways, support: BiometrySupport, demandsPassword: Bool = false) {
        self.ways = ways
        step =
            if demandsPassword {
                .password(.demanded)
            } else if ways.contains(.biometry), let kind = support.biometry {
                .biometry(kind)
            } else if ways.contains(.passcode) {
                .passcode
            } else if ways.contains(.biometry), case .lockedOut = support {
                .password(.lockedOut)
            } else {
                .password(.onlyWay)
            }
    }

    /// Reports that the system's prompt succeeded. Has no effect in the steps `password` and `done`.
    public mutating func succeeded() {
        switch step {
        case .biometry: step = .done(.biometry)
        case .passcode: step = .done(.passcode)
        case .password, .done: break
        }
    }

    /// Reports that the system's prompt failed. Has no effect in the steps `password` and `done`.
    ///
    /// - Parameter failure: the failure of `BiometricAuth.authenticate`.
    public mutating func failed(_ failure: AuthenticationFailure) {
        switch step {
        case .biometry:
            // A user who cancels, or presses the fallback button, wants the app's password and not another prompt.
            switch failure.advice {
            case .doNothing, .showOwnWay: step = .password(.chosen)
            case .askForPasscode: step = ways.contains(.passcode) ? .passcode : .password(.lockedOut)
            default: step = ways.contains(.passcode) ? .passcode : .password(.notRecognised)
            }
        case .passcode: step = .password(failure.advice == .doNothing ? .chosen : .notRecognised)
        case .password, .done: break
        }
    }

    /// Reports that the user wants to enter the password. Has no effect in the step `done`.
    public mutating func choosePassword() {
        switch step {
        case .biometry, .passcode: step = .password(.chosen)
        case .password, .done: break
        }
    }

    /// Reports that the app has checked a password. Has no effect in steps other than `password`.
    ///
    /// - Parameter isRight: whether the password was right.
    public mutating func passwordTried(isRight: Bool) {
        guard case .password = step else { return }
        if isRight {
            step = .done(.password)
        } else {
            wrongPasswords += 1
            step = .password(.wrongPassword)
        }
    }
}
