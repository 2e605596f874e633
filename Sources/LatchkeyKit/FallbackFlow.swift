// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

/// Which way in is shown next: biometry, then the passcode, then the app's own password. A value without any input or
/// output of its own: the app shows `step`, and tells what came of it.
///
///     var flow = FallbackFlow(ways: [.biometry, .password], support: auth.supportedBiometry)
///     // flow.step is .biometry(.faceID); the person cancels
///     flow.failed(failure)
///     // flow.step is .password(.chosen)
///
/// The app's password is always the last way, so that nobody is locked out by a sensor.
public struct FallbackFlow: Hashable, Sendable {
    /// Ways that the app offers besides its own password, which is always one.
    public struct Ways: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: Int

        /// Takes the bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Biometry.
        public static let biometry = Ways(rawValue: 1)
        /// The passcode of the device.
        public static let passcode = Ways(rawValue: 2)
    }

    /// What is shown.
    public enum Step: Hashable, Sendable {
        /// The system's prompt for biometry.
        case biometry(Biometry)
        /// The system's prompt for the passcode, by `LAPolicy.deviceOwnerAuthentication`.
        case passcode
        /// The app's own password, and why.
        case password(PasswordReason)
        /// The person is in.
        case done(Way)
    }

    /// A way in.
    public enum Way: Hashable, Sendable {
        /// Biometry.
        case biometry
        /// The passcode of the device.
        case passcode
        /// The app's own password.
        case password
    }

    /// Why the app's own password is asked for.
    public enum PasswordReason: Hashable, Sendable {
        /// It is the only way: biometry is not offered or not possible.
        case onlyWay
        /// The app demands it: what is enrolled has changed, or nothing was trusted so far.
        case demanded
        /// The person chose it, or cancelled the prompt.
        case chosen
        /// The person was not recognised.
        case notRecognised
        /// Biometry is locked.
        case lockedOut
        /// The password before was wrong.
        case wrongPassword
    }

    /// What is shown now.
    public private(set) var step: Step
    /// Wrong passwords so far.
    public private(set) var wrongPasswords = 0
    private let ways: Ways

    /// Begins a flow.
    ///
    /// - Parameters:
    ///   - ways: what the app offers besides its password.
    ///   - support: what biometry can do now.
    ///   - demandsPassword: whether nothing but the password will do, as after `EnrollmentMonitor.Verdict.changed`.
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

    /// The prompt of the system that is shown ended with success. Does nothing in any other step.
    public mutating func succeeded() {
        switch step {
        case .biometry: step = .done(.biometry)
        case .passcode: step = .done(.passcode)
        case .password, .done: break
        }
    }

    /// The prompt of the system that is shown ended without success. Does nothing in any other step.
    public mutating func failed(_ failure: AuthenticationFailure) {
        switch step {
        case .biometry:
            // Whoever cancels, or presses the button for it, wants the app's password and no second prompt.
            switch failure.advice {
            case .doNothing, .showOwnWay: step = .password(.chosen)
            case .askForPasscode: step = ways.contains(.passcode) ? .passcode : .password(.lockedOut)
            default: step = ways.contains(.passcode) ? .passcode : .password(.notRecognised)
            }
        case .passcode: step = .password(failure.advice == .doNothing ? .chosen : .notRecognised)
        case .password, .done: break
        }
    }

    /// The person would rather type the password. Does nothing once they are in.
    public mutating func choosePassword() {
        switch step {
        case .biometry, .passcode: step = .password(.chosen)
        case .password, .done: break
        }
    }

    /// The app looked at a password. Does nothing in any other step.
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
