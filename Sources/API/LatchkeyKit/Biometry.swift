// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication

/// A kind of biometry, with its name and icons for display.
///
/// Apple's Human Interface Guidelines require the name of the device's own sensor: never Touch ID on a device with
/// Face ID, or the other way round.
public enum Biometry: String, Hashable, Sendable, CaseIterable {
    /// Recognition of a fingerprint. Apple: `LABiometryType.touchID`.
    case touchID
    /// Recognition of a face. Apple: `LABiometryType.faceID`.
    case faceID
    /// Recognition of the eyes. Apple: `LABiometryType.opticID`.
    case opticID

    /// Converts the type that a context reports.
    ///
    /// - Parameter type: the type. `none` and types that this version does not know give nil.
    public init?(_ type: LABiometryType) {
        switch type {
        case .touchID: self = .touchID
        case .faceID: self = .faceID
        case .opticID: self = .opticID
        // Not `@unknown default`: `none` belongs here too.
        default: return nil
        }
    }

    /// The name for display: "Touch ID", "Face ID" or "Optic ID".
    ///
    /// > Note: Linux: the name of `touchID` is "Fingerprint", since the reader is not Apple's.
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

    /// The recognised part of the body, for sentences: "finger", "face" or "eyes".
    public var bodyPart: String {
        switch self {
        case .touchID: "finger"
        case .faceID: "face"
        case .opticID: "eyes"
        }
    }

    /// The name of the icon in Apple's SF Symbols: "touchid", "faceid" or "opticid".
    public var symbolName: String { rawValue.lowercased() }

    /// The name of the icon in icon themes of Linux desktops (freedesktop.org).
    public var themeIconName: String {
        switch self {
        case .touchID: "auth-fingerprint-symbolic"
        case .faceID: "auth-face-symbolic"
        case .opticID: "view-reveal-symbolic"
        }
    }

    /// Whether the scan begins without an action of the user: true for a face and for eyes.
    ///
    /// Show `immediateScanWarning` before the user presses the button that begins it.
    public var scansAtOnce: Bool { self != .touchID }

    /// The warning to show beside a button that begins an immediate scan; nil for a finger, which the user has to
    /// place.
    public var immediateScanWarning: String? {
        scansAtOnce ? "\(name) scans your \(bodyPart) as soon as you press the button." : nil
    }
}
