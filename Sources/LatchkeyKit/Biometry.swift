// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication

/// A kind of biometry, with the words and pictures that fit it and no other.
///
/// Apple's interface guidelines: never say Touch ID on a device with Face ID, nor the other way round.
public enum Biometry: String, Hashable, Sendable, CaseIterable {
    /// A finger. Apple: `LABiometryType.touchID`.
    case touchID
    /// A face. Apple: `LABiometryType.faceID`.
    case faceID
    /// An eye. Apple: `LABiometryType.opticID`.
    case opticID

    /// The kind that a context tells; nil for `none` and for kinds that this version does not know.
    public init?(_ type: LABiometryType) {
        switch type {
        case .touchID: self = .touchID
        case .faceID: self = .faceID
        case .opticID: self = .opticID
        // Not `@unknown default`: a context without a sensor belongs here too.
        default: return nil
        }
    }

    /// The name people know it by: "Touch ID", "Face ID" or "Optic ID".
    ///
    /// > Note: Linux: a finger is "Fingerprint", since no reader there is Apple's.
    public var name: String {
        switch self {
        #if os(Linux)
        case .touchID: "Fingerprint"
        #else
        case .touchID: "Touch ID"
        #endif
        case .faceID: "Face ID"
        case .opticID: "Optic ID"
        }
    }

    /// What is recognised, for sentences: "finger", "face" or "eyes".
    public var bodyPart: String {
        switch self {
        case .touchID: "finger"
        case .faceID: "face"
        case .opticID: "eyes"
        }
    }

    /// The name of the picture in Apple's SF Symbols: "touchid", "faceid" or "opticid".
    public var symbolName: String { rawValue.lowercased() }

    /// The name of the picture in icon themes of Linux desktops (freedesktop.org).
    public var themeIconName: String {
        switch self {
        case .touchID: "auth-fingerprint-symbolic"
        case .faceID: "auth-face-symbolic"
        case .opticID: "view-reveal-symbolic"
        }
    }

    /// Whether the scan begins as soon as it is asked for, so that a person cannot think twice: true for a face and eyes.
    ///
    /// An interface warns before the button is pressed, with `immediateScanWarning`.
    public var scansAtOnce: Bool { self != .touchID }

    /// The warning to show beside a button that begins an immediate scan; nil where a finger has to be placed first.
    public var immediateScanWarning: String? {
        scansAtOnce ? "\(name) scans your \(bodyPart) as soon as you press the button." : nil
    }
}
