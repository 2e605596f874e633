// SPDX-License-Identifier: Apache-2.0

/// What the user has to prove. Apple: `LAPolicy`.
public enum LAPolicy: Int, Sendable {
    /// Biometry, without the passcode as a fallback. Apple: `LAPolicy.deviceOwnerAuthenticationWithBiometrics`.
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// Biometry, or the passcode of the device. Apple: `LAPolicy.deviceOwnerAuthentication`.
    case deviceOwnerAuthentication = 2
    /// A confirmation on a paired device nearby. Apple: `LAPolicy.deviceOwnerAuthenticationWithCompanion`.
    case deviceOwnerAuthenticationWithCompanion = 3
    /// Biometry, or a confirmation on a paired device nearby. Apple:
    /// `LAPolicy.deviceOwnerAuthenticationWithBiometricsOrCompanion`.
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4
    /// A watch on the user's wrist; fails with `companionNotAvailable` on Linux. Apple:
    /// `LAPolicy.deviceOwnerAuthenticationWithWristDetection`.
    case deviceOwnerAuthenticationWithWristDetection = 5

    /// Deprecated name of `deviceOwnerAuthenticationWithCompanion`. Apple:
    /// `LAPolicy.deviceOwnerAuthenticationWithWatch`.
    @available(*, deprecated, renamed: "deviceOwnerAuthenticationWithCompanion")
    public static var deviceOwnerAuthenticationWithWatch: LAPolicy { .deviceOwnerAuthenticationWithCompanion }
    /// Deprecated name of `deviceOwnerAuthenticationWithBiometricsOrCompanion`. Apple:
    /// `LAPolicy.deviceOwnerAuthenticationWithBiometricsOrWatch`.
    @available(*, deprecated, renamed: "deviceOwnerAuthenticationWithBiometricsOrCompanion")
    public static var deviceOwnerAuthenticationWithBiometricsOrWatch: LAPolicy {
        .deviceOwnerAuthenticationWithBiometricsOrCompanion
    }
}

/// The kind of biometric sensor. Apple: `LABiometryType`.
public enum LABiometryType: Int, Sendable {
    /// No sensor, or `canEvaluatePolicy` was not called yet. Apple: `LABiometryType.none`.
    case none = 0
    /// A sensor that reads fingerprints. Apple: `LABiometryType.touchID`.
    case touchID = 1
    /// A camera that recognises faces. Apple: `LABiometryType.faceID`.
    case faceID = 2
    /// A camera that recognises eyes. Apple: `LABiometryType.opticID`.
    case opticID = 4

    /// Deprecated name of the case `none`. Apple: `LABiometryType.LABiometryNone`.
    @available(*, deprecated, renamed: "none")
    public static var LABiometryNone: LABiometryType { .none }
}

/// An operation on an item or a key with an access control. Apple: `LAAccessControlOperation`.
public enum LAAccessControlOperation: Int, Sendable {
    /// Creating an item; demands no proof. Apple: `LAAccessControlOperation.createItem`.
    case createItem = 0
    /// Reading or changing an item. Apple: `LAAccessControlOperation.useItem`.
    case useItem = 1
    /// Creating a key; demands no proof. Apple: `LAAccessControlOperation.createKey`.
    case createKey = 2
    /// Creating a signature with a key. Apple: `LAAccessControlOperation.useKeySign`.
    case useKeySign = 3
    /// Decrypting data with a key. Apple: `LAAccessControlOperation.useKeyDecrypt`.
    case useKeyDecrypt = 4
    /// Agreeing on a shared secret with a key. Apple: `LAAccessControlOperation.useKeyKeyExchange`.
    case useKeyKeyExchange = 5
}

/// The kind of a credential that an app sets on a context. Apple: `LACredentialType`.
public enum LACredentialType: Int, Sendable {
    /// A password that the app itself chose. Apple: `LACredentialType.applicationPassword`.
    case applicationPassword = 0
    /// The PIN of a smart card; stored by a context, but not used on Linux. Apple: `LACredentialType.smartCardPIN`.
    case smartCardPIN = -3
}

/// The kind of a paired device. Apple: `LACompanionType`.
public enum LACompanionType: Int, Sendable {
    /// A watch that can confirm. Apple: `LACompanionType.watch`.
    case watch = 1
    /// A Mac that can confirm. Apple: `LACompanionType.mac`.
    case mac = 2
    /// A headset that can confirm. Apple: `LACompanionType.vision`.
    case vision = 4
}
