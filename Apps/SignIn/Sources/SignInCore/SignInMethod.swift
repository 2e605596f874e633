// SPDX-License-Identifier: Apache-2.0

public import LatchkeyKit

/// A method with which the user authenticates now, with its texts and icons.
///
/// Computed from what the sensor can do and from what releases the key. A sensor that cannot be used leads to the passcode
/// or to a sentence that says what to do.
public enum SignInMethod: Hashable, Sendable {
    /// A finger, a face or eyes.
    case biometry(Biometry)
    /// The passcode of the device.
    case passcode
    /// The passcode, which unlocks a sensor that is locked after too many tries.
    case passcodeForSensor(Biometry)
    /// Nothing that this device can do now; with what the user can do.
    case nothing(String)

    /// Chooses the method.
    ///
    /// - Parameters:
    ///   - support: what the sensor can do now.
    ///   - release: which proof releases the key.
    public init(_ support: BiometrySupport, release: Account.Release) {
        switch (support, release) {
        case (.available(let kind), _): self = .biometry(kind)
        case (_, .presence): self = .passcode
        case (.lockedOut(let kind), .biometry): self = .passcodeForSensor(kind)
        default:
            self = .nothing(
                [support.explanation, "Or register with a new code, and choose the passcode."].compactMap { $0 }
                    .joined(separator: " "))
        }
    }

    /// The name of the method in a title: "Fingerprint", "Face ID", "Passcode".
    public var name: String {
        switch self {
        case .biometry(let kind): kind.name
        case .passcode, .passcodeForSensor: "Passcode"
        case .nothing: ""
        }
    }

    /// What the user does, in a sentence: "your finger", "your passcode".
    public var noun: String {
        switch self {
        case .biometry(let kind): "your \(kind.bodyPart)"
        case .passcode, .passcodeForSensor: "your passcode"
        case .nothing: "your device"
        }
    }

    /// What the user is asked for while the prompt is shown.
    public var asking: String {
        switch self {
        case .biometry(.touchID): "Put your finger on the sensor."
        case .biometry: "Look at the sensor."
        case .passcode, .passcodeForSensor: "Enter the passcode of this device."
        case .nothing: ""
        }
    }

    /// The name of its icon in icon themes of Linux desktops.
    public var iconName: String {
        switch self {
        case .biometry(let kind): kind.themeIconName
        case .passcode, .passcodeForSensor: "dialog-password-symbolic"
        case .nothing: "dialog-warning-symbolic"
        }
    }

    /// The name of its icon in Apple's SF Symbols.
    public var symbolName: String {
        switch self {
        case .biometry(let kind): kind.symbolName
        case .passcode, .passcodeForSensor: "lock"
        case .nothing: "exclamationmark.triangle"
        }
    }

    /// The title of a button that does `act` by this method, such as "Sign In with Fingerprint".
    ///
    /// - Parameter act: the verb, such as "Sign In".
    public func title(_ act: String) -> String {
        switch self {
        case .biometry, .passcode: "\(act) with \(name)"
        case .passcodeForSensor(let kind): "Unlock \(kind.name) with Passcode"
        case .nothing: act
        }
    }

    /// Whether a button of this method can be pressed.
    public var isPossible: Bool { if case .nothing = self { false } else { true } }

    /// Why the method is not the sensor, or what to do; nil when there is nothing to say.
    public var explanation: String? {
        switch self {
        case .biometry, .passcode: nil
        case .passcodeForSensor(let kind): "\(kind.name) is locked after too many tries. The passcode unlocks it."
        case .nothing(let words): words
        }
    }
}
