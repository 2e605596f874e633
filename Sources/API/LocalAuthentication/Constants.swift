// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Apple's C names of the constants. `LocalAuthenticationConstantTests` compares the values with
// Tests/Vectors/localauthentication.tsv.

/// The maximum of `LAContext.touchIDAuthenticationAllowableReuseDuration`, in seconds. Apple:
/// `LATouchIDAuthenticationMaximumAllowableReuseDuration`.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300
/// The number of `LAAccessControlOperation.createItem`, 0. Apple: `kLAAccessControlOperationCreateItem`.
public var kLAAccessControlOperationCreateItem: Int32 { 0 }
/// The number of `LAAccessControlOperation.createKey`, 2. Apple: `kLAAccessControlOperationCreateKey`.
public var kLAAccessControlOperationCreateKey: Int32 { 2 }
/// The number of `LAAccessControlOperation.useItem`, 1. Apple: `kLAAccessControlOperationUseItem`.
public var kLAAccessControlOperationUseItem: Int32 { 1 }
/// The number of `LAAccessControlOperation.useKeyDecrypt`, 4. Apple: `kLAAccessControlOperationUseKeyDecrypt`.
public var kLAAccessControlOperationUseKeyDecrypt: Int32 { 4 }
/// The number of `LAAccessControlOperation.useKeyKeyExchange`, 5. Apple: `kLAAccessControlOperationUseKeyKeyExchange`.
public var kLAAccessControlOperationUseKeyKeyExchange: Int32 { 5 }
/// The number of `LAAccessControlOperation.useKeySign`, 3. Apple: `kLAAccessControlOperationUseKeySign`.
public var kLAAccessControlOperationUseKeySign: Int32 { 3 }
/// The number of `LABiometryType.faceID`, 2. Apple: `kLABiometryTypeFaceID`.
public var kLABiometryTypeFaceID: Int32 { 2 }
/// The number of `LABiometryType.none`, 0. Apple: `kLABiometryTypeNone`.
public var kLABiometryTypeNone: Int32 { 0 }
/// The number of `LABiometryType.opticID`, 4. Apple: `kLABiometryTypeOpticID`.
public var kLABiometryTypeOpticID: Int32 { 4 }
/// The number of `LABiometryType.touchID`, 1. Apple: `kLABiometryTypeTouchID`.
public var kLABiometryTypeTouchID: Int32 { 1 }
/// The number of `LACompanionType.mac`, 2. Apple: `kLACompanionTypeMac`.
public var kLACompanionTypeMac: Int32 { 2 }
/// No paired device, 0. Apple: `kLACompanionTypeNone`.
public var kLACompanionTypeNone: Int32 { 0 }
/// The number of `LACompanionType.vision`, 4. Apple: `kLACompanionTypeVision`.
public var kLACompanionTypeVision: Int32 { 4 }
/// The number of `LACompanionType.watch`, 1. Apple: `kLACompanionTypeWatch`.
public var kLACompanionTypeWatch: Int32 { 1 }
/// The number of `LACredentialType.smartCardPIN`, -3. Apple: `kLACredentialCTKPIN`.
public var kLACredentialCTKPIN: Int32 { -3 }
/// The number of `LACredentialType.smartCardPIN`, -3. Apple: `kLACredentialSmartCardPIN`.
public var kLACredentialSmartCardPIN: Int32 { -3 }
/// The number of `LACredentialType.applicationPassword`, 0. Apple: `kLACredentialTypeApplicationPassword`.
public var kLACredentialTypeApplicationPassword: Int32 { 0 }
/// A passcode as a credential, -1; not supported. Apple: `kLACredentialTypePasscode`.
public var kLACredentialTypePasscode: Int32 { -1 }
/// A passphrase as a credential, -2; not supported. Apple: `kLACredentialTypePassphrase`.
public var kLACredentialTypePassphrase: Int32 { -2 }
/// The number of `LAError.Code.appCancel`, -9. Apple: `kLAErrorAppCancel`.
public var kLAErrorAppCancel: Int32 { -9 }
/// The number of `LAError.Code.authenticationFailed`, -1. Apple: `kLAErrorAuthenticationFailed`.
public var kLAErrorAuthenticationFailed: Int32 { -1 }
/// The number of `LAError.Code.biometryDisconnected`, -13. Apple: `kLAErrorBiometryDisconnected`.
public var kLAErrorBiometryDisconnected: Int32 { -13 }
/// The number of `LAError.Code.biometryLockout`, -8. Apple: `kLAErrorBiometryLockout`.
public var kLAErrorBiometryLockout: Int32 { -8 }
/// The number of `LAError.Code.biometryNotAvailable`, -6. Apple: `kLAErrorBiometryNotAvailable`.
public var kLAErrorBiometryNotAvailable: Int32 { -6 }
/// The number of `LAError.Code.biometryNotEnrolled`, -7. Apple: `kLAErrorBiometryNotEnrolled`.
public var kLAErrorBiometryNotEnrolled: Int32 { -7 }
/// The number of `LAError.Code.biometryNotPaired`, -12. Apple: `kLAErrorBiometryNotPaired`.
public var kLAErrorBiometryNotPaired: Int32 { -12 }
/// The number of `LAError.Code.companionNotAvailable`, -11. Apple: `kLAErrorCompanionNotAvailable`.
public var kLAErrorCompanionNotAvailable: Int32 { -11 }
/// The error domain, an older name of `LAErrorDomain`. Apple: `kLAErrorDomain`.
public var kLAErrorDomain: String { LAErrorDomain }
/// The number of `LAError.Code.invalidContext`, -10. Apple: `kLAErrorInvalidContext`.
public var kLAErrorInvalidContext: Int32 { -10 }
/// The number of `LAError.Code.invalidDimensions`, -14. Apple: `kLAErrorInvalidDimensions`.
public var kLAErrorInvalidDimensions: Int32 { -14 }
/// The number of `LAError.Code.notInteractive`, -1004. Apple: `kLAErrorNotInteractive`.
public var kLAErrorNotInteractive: Int32 { -1004 }
/// The number of `LAError.Code.passcodeNotSet`, -5. Apple: `kLAErrorPasscodeNotSet`.
public var kLAErrorPasscodeNotSet: Int32 { -5 }
/// The number of `LAError.Code.systemCancel`, -4. Apple: `kLAErrorSystemCancel`.
public var kLAErrorSystemCancel: Int32 { -4 }
/// The number of `LAError.Code.touchIDLockout`, -8. Apple: `kLAErrorTouchIDLockout`.
public var kLAErrorTouchIDLockout: Int32 { -8 }
/// The number of `LAError.Code.touchIDNotAvailable`, -6. Apple: `kLAErrorTouchIDNotAvailable`.
public var kLAErrorTouchIDNotAvailable: Int32 { -6 }
/// The number of `LAError.Code.touchIDNotEnrolled`, -7. Apple: `kLAErrorTouchIDNotEnrolled`.
public var kLAErrorTouchIDNotEnrolled: Int32 { -7 }
/// The number of `LAError.Code.userCancel`, -2. Apple: `kLAErrorUserCancel`.
public var kLAErrorUserCancel: Int32 { -2 }
/// The number of `LAError.Code.userFallback`, -3. Apple: `kLAErrorUserFallback`.
public var kLAErrorUserFallback: Int32 { -3 }
/// The number of `LAError.Code.watchNotAvailable`, -11. Apple: `kLAErrorWatchNotAvailable`.
public var kLAErrorWatchNotAvailable: Int32 { -11 }
/// The option for the reason of a prompt, 2. Apple: `kLAOptionAuthenticationReason`.
public var kLAOptionAuthenticationReason: Int32 { 2 }
/// The option for the title of the fallback button, 1. Apple: `kLAOptionUserFallback`.
public var kLAOptionUserFallback: Int32 { 1 }
/// The number of `LAPolicy.deviceOwnerAuthentication`, 2. Apple: `kLAPolicyDeviceOwnerAuthentication`.
public var kLAPolicyDeviceOwnerAuthentication: Int32 { 2 }
/// The number of `LAPolicy.deviceOwnerAuthenticationWithBiometrics`, 1.
/// Apple: `kLAPolicyDeviceOwnerAuthenticationWithBiometrics`.
public var kLAPolicyDeviceOwnerAuthenticationWithBiometrics: Int32 { 1 }
/// The number of `LAPolicy.deviceOwnerAuthenticationWithBiometricsOrCompanion`, 4.
/// Apple: `kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion`.
public var kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion: Int32 { 4 }
/// The number of `LAPolicy.deviceOwnerAuthenticationWithBiometricsOrWatch`, 4.
/// Apple: `kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrWatch`.
public var kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrWatch: Int32 { 4 }
/// The number of `LAPolicy.deviceOwnerAuthenticationWithCompanion`, 3.
/// Apple: `kLAPolicyDeviceOwnerAuthenticationWithCompanion`.
public var kLAPolicyDeviceOwnerAuthenticationWithCompanion: Int32 { 3 }
/// The number of `LAPolicy.deviceOwnerAuthenticationWithWatch`, 3.
/// Apple: `kLAPolicyDeviceOwnerAuthenticationWithWatch`.
public var kLAPolicyDeviceOwnerAuthenticationWithWatch: Int32 { 3 }
/// The number of `LAPolicy.deviceOwnerAuthenticationWithWristDetection`, 5.
/// Apple: `kLAPolicyDeviceOwnerAuthenticationWithWristDetection`.
public var kLAPolicyDeviceOwnerAuthenticationWithWristDetection: Int32 { 5 }
