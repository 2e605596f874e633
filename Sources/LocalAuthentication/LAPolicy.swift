// SPDX-License-Identifier: Apache-2.0

/// What a person has to prove. Apple: `LAPolicy`.
public enum LAPolicy: Int, Sendable {
    /// Biometry, and nothing else will do.
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// Biometry or the passcode.
    case deviceOwnerAuthentication = 2
}

/// The kind of sensor. Apple: `LABiometryType`.
public enum LABiometryType: Int, Sendable {
    /// No sensor, or not known so far.
    case none = 0
    /// A fingerprint reader.
    case touchID = 1
    /// A face camera.
    case faceID = 2
    /// An eye camera.
    case opticID = 4

    /// Old name of `none`.
    @available(*, deprecated, renamed: "none")
    public static var LABiometryNone: LABiometryType { .none }
}
