// SPDX-License-Identifier: Apache-2.0

/// What a person has to prove. Apple: `LAPolicy`.
public enum LAPolicy: Int, Sendable {
    /// Biometry, and nothing else will do.
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// Biometry or the passcode.
    case deviceOwnerAuthentication = 2
    /// A confirmation on a paired device nearby.
    case deviceOwnerAuthenticationWithCompanion = 3
    /// Biometry or a confirmation on a paired device nearby.
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4
    /// A watch that is worn; only a watch can tell, so this fails with `companionNotAvailable` here.
    case deviceOwnerAuthenticationWithWristDetection = 5

    /// Old name of `deviceOwnerAuthenticationWithCompanion`.
    @available(*, deprecated, renamed: "deviceOwnerAuthenticationWithCompanion")
    public static var deviceOwnerAuthenticationWithWatch: LAPolicy { .deviceOwnerAuthenticationWithCompanion }
    /// Old name of `deviceOwnerAuthenticationWithBiometricsOrCompanion`.
    @available(*, deprecated, renamed: "deviceOwnerAuthenticationWithBiometricsOrCompanion")
    public static var deviceOwnerAuthenticationWithBiometricsOrWatch: LAPolicy {
        .deviceOwnerAuthenticationWithBiometricsOrCompanion
    }
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

/// What is about to be done under an access control. Apple: `LAAccessControlOperation`.
public enum LAAccessControlOperation: Int, Sendable {
    /// Making an item.
    case createItem = 0
    /// Reading or changing an item.
    case useItem = 1
    /// Making a key.
    case createKey = 2
    /// Signing with a key.
    case useKeySign = 3
    /// Decrypting with a key.
    case useKeyDecrypt = 4
    /// Agreeing on a secret with a key.
    case useKeyKeyExchange = 5
}

/// A credential that an app hands over. Apple: `LACredentialType`.
public enum LACredentialType: Int, Sendable {
    /// The app's own password.
    case applicationPassword = 0
    /// The PIN of a smart card.
    case smartCardPIN = -3
}

/// A kind of paired device. Apple: `LACompanionType`.
public enum LACompanionType: Int, Sendable {
    /// A watch.
    case watch = 1
    /// A Mac.
    case mac = 2
    /// A headset.
    case vision = 4
}
