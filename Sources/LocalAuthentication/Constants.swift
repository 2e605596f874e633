// SPDX-License-Identifier: Apache-2.0

public import Foundation

// The old names of Apple's C constants; values are compared with Tests/Vectors/localauthentication.tsv.

/// Seconds for which an unlock by biometry may be reused at the most.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300
/// Operation under an access control 0 as a number.
public var kLAAccessControlOperationCreateItem: Int32 { 0 }
/// Operation under an access control 2 as a number.
public var kLAAccessControlOperationCreateKey: Int32 { 2 }
/// Operation under an access control 1 as a number.
public var kLAAccessControlOperationUseItem: Int32 { 1 }
/// Operation under an access control 4 as a number.
public var kLAAccessControlOperationUseKeyDecrypt: Int32 { 4 }
/// Operation under an access control 5 as a number.
public var kLAAccessControlOperationUseKeyKeyExchange: Int32 { 5 }
/// Operation under an access control 3 as a number.
public var kLAAccessControlOperationUseKeySign: Int32 { 3 }
/// Kind of sensor 2 as a number.
public var kLABiometryTypeFaceID: Int32 { 2 }
/// Kind of sensor 0 as a number.
public var kLABiometryTypeNone: Int32 { 0 }
/// Kind of sensor 4 as a number.
public var kLABiometryTypeOpticID: Int32 { 4 }
/// Kind of sensor 1 as a number.
public var kLABiometryTypeTouchID: Int32 { 1 }
/// Kind of paired device 2 as a number.
public var kLACompanionTypeMac: Int32 { 2 }
/// Kind of paired device 0 as a number.
public var kLACompanionTypeNone: Int32 { 0 }
/// Kind of paired device 4 as a number.
public var kLACompanionTypeVision: Int32 { 4 }
/// Kind of paired device 1 as a number.
public var kLACompanionTypeWatch: Int32 { 1 }
/// Kind of credential -3 as a number.
public var kLACredentialCTKPIN: Int32 { -3 }
/// Kind of credential -3 as a number.
public var kLACredentialSmartCardPIN: Int32 { -3 }
/// Kind of credential 0 as a number.
public var kLACredentialTypeApplicationPassword: Int32 { 0 }
/// Kind of credential -1 as a number.
public var kLACredentialTypePasscode: Int32 { -1 }
/// Kind of credential -2 as a number.
public var kLACredentialTypePassphrase: Int32 { -2 }
/// Error code -9 as a number.
public var kLAErrorAppCancel: Int32 { -9 }
/// Error code -1 as a number.
public var kLAErrorAuthenticationFailed: Int32 { -1 }
/// Error code -13 as a number.
public var kLAErrorBiometryDisconnected: Int32 { -13 }
/// Error code -8 as a number.
public var kLAErrorBiometryLockout: Int32 { -8 }
/// Error code -6 as a number.
public var kLAErrorBiometryNotAvailable: Int32 { -6 }
/// Error code -7 as a number.
public var kLAErrorBiometryNotEnrolled: Int32 { -7 }
/// Error code -12 as a number.
public var kLAErrorBiometryNotPaired: Int32 { -12 }
/// Error code -11 as a number.
public var kLAErrorCompanionNotAvailable: Int32 { -11 }
/// The domain of errors; old name of `LAErrorDomain`.
public var kLAErrorDomain: String { LAErrorDomain }
/// Error code -10 as a number.
public var kLAErrorInvalidContext: Int32 { -10 }
/// Error code -14 as a number.
public var kLAErrorInvalidDimensions: Int32 { -14 }
/// Error code -1004 as a number.
public var kLAErrorNotInteractive: Int32 { -1004 }
/// Error code -5 as a number.
public var kLAErrorPasscodeNotSet: Int32 { -5 }
/// Error code -4 as a number.
public var kLAErrorSystemCancel: Int32 { -4 }
/// Error code -8 as a number.
public var kLAErrorTouchIDLockout: Int32 { -8 }
/// Error code -6 as a number.
public var kLAErrorTouchIDNotAvailable: Int32 { -6 }
/// Error code -7 as a number.
public var kLAErrorTouchIDNotEnrolled: Int32 { -7 }
/// Error code -2 as a number.
public var kLAErrorUserCancel: Int32 { -2 }
/// Error code -3 as a number.
public var kLAErrorUserFallback: Int32 { -3 }
/// Error code -11 as a number.
public var kLAErrorWatchNotAvailable: Int32 { -11 }
/// Option 2 as a number.
public var kLAOptionAuthenticationReason: Int32 { 2 }
/// Option 1 as a number.
public var kLAOptionUserFallback: Int32 { 1 }
/// Policy 2 as a number.
public var kLAPolicyDeviceOwnerAuthentication: Int32 { 2 }
/// Policy 1 as a number.
public var kLAPolicyDeviceOwnerAuthenticationWithBiometrics: Int32 { 1 }
/// Policy 4 as a number.
public var kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion: Int32 { 4 }
/// Policy 4 as a number.
public var kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrWatch: Int32 { 4 }
/// Policy 3 as a number.
public var kLAPolicyDeviceOwnerAuthenticationWithCompanion: Int32 { 3 }
/// Policy 3 as a number.
public var kLAPolicyDeviceOwnerAuthenticationWithWatch: Int32 { 3 }
/// Policy 5 as a number.
public var kLAPolicyDeviceOwnerAuthenticationWithWristDetection: Int32 { 5 }
