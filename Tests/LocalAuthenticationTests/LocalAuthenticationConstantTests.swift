// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthentication
import TestSupport
import Testing

/// Compares every name and number with Apple's, which are the rows of Tests/Vectors/localauthentication.tsv.
@Suite struct LocalAuthenticationConstantTests {
    private static let policies: [String: LAPolicy] = [
        "deviceOwnerAuthenticationWithBiometrics": .deviceOwnerAuthenticationWithBiometrics,
        "deviceOwnerAuthentication": .deviceOwnerAuthentication,
        "deviceOwnerAuthenticationWithCompanion": .deviceOwnerAuthenticationWithCompanion,
        "deviceOwnerAuthenticationWithBiometricsOrCompanion": .deviceOwnerAuthenticationWithBiometricsOrCompanion,
        "deviceOwnerAuthenticationWithWristDetection": .deviceOwnerAuthenticationWithWristDetection,
    ]
    private static let types: [String: LABiometryType] = [
        "none": .none, "touchID": .touchID, "faceID": .faceID, "opticID": .opticID,
    ]
    private static let codes: [String: LAError.Code] = [
        "authenticationFailed": .authenticationFailed, "userCancel": .userCancel, "userFallback": .userFallback,
        "systemCancel": .systemCancel, "passcodeNotSet": .passcodeNotSet,
        "biometryNotAvailable": .biometryNotAvailable, "biometryNotEnrolled": .biometryNotEnrolled,
        "biometryLockout": .biometryLockout, "appCancel": .appCancel, "invalidContext": .invalidContext,
        "companionNotAvailable": .companionNotAvailable, "biometryNotPaired": .biometryNotPaired,
        "biometryDisconnected": .biometryDisconnected, "invalidDimensions": .invalidDimensions,
        "notInteractive": .notInteractive,
    ]
    private static let numbers: [String: Int32] = [
        "kLAAccessControlOperationCreateItem": kLAAccessControlOperationCreateItem,
        "kLAAccessControlOperationCreateKey": kLAAccessControlOperationCreateKey,
        "kLAAccessControlOperationUseItem": kLAAccessControlOperationUseItem,
        "kLAAccessControlOperationUseKeyDecrypt": kLAAccessControlOperationUseKeyDecrypt,
        "kLAAccessControlOperationUseKeyKeyExchange": kLAAccessControlOperationUseKeyKeyExchange,
        "kLAAccessControlOperationUseKeySign": kLAAccessControlOperationUseKeySign,
        "kLABiometryTypeFaceID": kLABiometryTypeFaceID,
        "kLABiometryTypeNone": kLABiometryTypeNone,
        "kLABiometryTypeOpticID": kLABiometryTypeOpticID,
        "kLABiometryTypeTouchID": kLABiometryTypeTouchID,
        "kLACompanionTypeMac": kLACompanionTypeMac,
        "kLACompanionTypeNone": kLACompanionTypeNone,
        "kLACompanionTypeVision": kLACompanionTypeVision,
        "kLACompanionTypeWatch": kLACompanionTypeWatch,
        "kLACredentialCTKPIN": kLACredentialCTKPIN,
        "kLACredentialSmartCardPIN": kLACredentialSmartCardPIN,
        "kLACredentialTypeApplicationPassword": kLACredentialTypeApplicationPassword,
        "kLACredentialTypePasscode": kLACredentialTypePasscode,
        "kLACredentialTypePassphrase": kLACredentialTypePassphrase,
        "kLAErrorAppCancel": kLAErrorAppCancel,
        "kLAErrorAuthenticationFailed": kLAErrorAuthenticationFailed,
        "kLAErrorBiometryDisconnected": kLAErrorBiometryDisconnected,
        "kLAErrorBiometryLockout": kLAErrorBiometryLockout,
        "kLAErrorBiometryNotAvailable": kLAErrorBiometryNotAvailable,
        "kLAErrorBiometryNotEnrolled": kLAErrorBiometryNotEnrolled,
        "kLAErrorBiometryNotPaired": kLAErrorBiometryNotPaired,
        "kLAErrorCompanionNotAvailable": kLAErrorCompanionNotAvailable,
        "kLAErrorInvalidContext": kLAErrorInvalidContext,
        "kLAErrorInvalidDimensions": kLAErrorInvalidDimensions,
        "kLAErrorNotInteractive": kLAErrorNotInteractive,
        "kLAErrorPasscodeNotSet": kLAErrorPasscodeNotSet,
        "kLAErrorSystemCancel": kLAErrorSystemCancel,
        "kLAErrorTouchIDLockout": kLAErrorTouchIDLockout,
        "kLAErrorTouchIDNotAvailable": kLAErrorTouchIDNotAvailable,
        "kLAErrorTouchIDNotEnrolled": kLAErrorTouchIDNotEnrolled,
        "kLAErrorUserCancel": kLAErrorUserCancel,
        "kLAErrorUserFallback": kLAErrorUserFallback,
        "kLAErrorWatchNotAvailable": kLAErrorWatchNotAvailable,
        "kLAOptionAuthenticationReason": kLAOptionAuthenticationReason,
        "kLAOptionUserFallback": kLAOptionUserFallback,
        "kLAPolicyDeviceOwnerAuthentication": kLAPolicyDeviceOwnerAuthentication,
        "kLAPolicyDeviceOwnerAuthenticationWithBiometrics": kLAPolicyDeviceOwnerAuthenticationWithBiometrics,
        "kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion":
            kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion,
        "kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrWatch":
            kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrWatch,
        "kLAPolicyDeviceOwnerAuthenticationWithCompanion": kLAPolicyDeviceOwnerAuthenticationWithCompanion,
        "kLAPolicyDeviceOwnerAuthenticationWithWatch": kLAPolicyDeviceOwnerAuthenticationWithWatch,
        "kLAPolicyDeviceOwnerAuthenticationWithWristDetection": kLAPolicyDeviceOwnerAuthenticationWithWristDetection,
    ]

    /// The names and values of one kind, from the table.
    private func table(_ kind: String) throws -> [String: String] {
        let file = Repository.vectors("localauthentication.tsv")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
        return Dictionary(uniqueKeysWithValues: lines.filter { $0[0] == kind }.map { ($0[1], $0[2]) })
    }

    /// Compares the declared values with the table. Deprecated names are in `oldNames`, and are tested below.
    private func compare(_ kind: String, _ values: [String: Int], oldNames: Set<String>) throws {
        let table = try table(kind)
        for (name, value) in values { #expect(table[name] == String(value), "\(kind).\(name)") }
        #expect(Set(table.keys) == Set(values.keys).union(oldNames), "\(kind)")
    }

    @Test func policiesHaveApplesNumbers() throws {
        let oldNames: Set = ["deviceOwnerAuthenticationWithWatch", "deviceOwnerAuthenticationWithBiometricsOrWatch"]
        try compare("LAPolicy", Self.policies.mapValues(\.rawValue), oldNames: oldNames)
    }

    @Test func biometryTypesHaveApplesNumbers() throws {
        try compare("LABiometryType", Self.types.mapValues(\.rawValue), oldNames: ["LABiometryNone"])
    }

    @Test func errorCodesHaveApplesNumbers() throws {
        let oldNames: Set = ["watchNotAvailable", "touchIDNotAvailable", "touchIDNotEnrolled", "touchIDLockout"]
        try compare("LAError.Code", Self.codes.mapValues(\.rawValue), oldNames: oldNames)
    }

    @Test func globalsHaveApplesValues() throws {
        let names: Set = ["LAErrorDomain", "kLAErrorDomain", "LATouchIDAuthenticationMaximumAllowableReuseDuration"]
        try compare("global", Self.numbers.mapValues { Int($0) }, oldNames: names)
        let globals = try table("global")
        #expect(LAErrorDomain == globals["LAErrorDomain"])
        #expect(kLAErrorDomain == globals["kLAErrorDomain"])
        #expect(LAError.errorDomain == LAErrorDomain)
        let seconds = globals["LATouchIDAuthenticationMaximumAllowableReuseDuration"].flatMap(TimeInterval.init)
        #expect(LATouchIDAuthenticationMaximumAllowableReuseDuration == seconds)
    }

    @available(*, deprecated, message: "uses the deprecated names")
    @Test func deprecatedNamesEqualTheNewNames() {
        #expect(LAPolicy.deviceOwnerAuthenticationWithWatch == .deviceOwnerAuthenticationWithCompanion)
        #expect(
            LAPolicy.deviceOwnerAuthenticationWithBiometricsOrWatch
                == .deviceOwnerAuthenticationWithBiometricsOrCompanion)
        #expect(LABiometryType.LABiometryNone == .none)
        #expect(LAError.Code.watchNotAvailable == .companionNotAvailable)
        #expect(LAError.Code.touchIDNotAvailable == .biometryNotAvailable)
        #expect(LAError.Code.touchIDNotEnrolled == .biometryNotEnrolled)
        #expect(LAError.Code.touchIDLockout == .biometryLockout)
        #expect(LAError.touchIDLockout == LAError.biometryLockout)
        #expect(LAError.touchIDNotAvailable == LAError.biometryNotAvailable)
        #expect(LAError.touchIDNotEnrolled == LAError.biometryNotEnrolled)
        #expect(LAError.watchNotAvailable == LAError.companionNotAvailable)
        switch LAError.Code.biometryLockout {
        case .touchIDLockout: break
        default: Issue.record("a deprecated name does not match")
        }
    }

    @Test func everyCodeHasAStaticProperty() {
        let names: [LAError.Code] = [
            LAError.authenticationFailed, LAError.userCancel, LAError.userFallback, LAError.systemCancel,
            LAError.passcodeNotSet, LAError.biometryNotAvailable, LAError.biometryNotEnrolled,
            LAError.biometryLockout, LAError.appCancel, LAError.invalidContext, LAError.companionNotAvailable,
            LAError.biometryNotPaired, LAError.biometryDisconnected, LAError.invalidDimensions,
            LAError.notInteractive,
        ]
        #expect(Set(names) == Set(Self.codes.values))
        #expect(names.count == Self.codes.count)
    }

    @Test func onlyErrorCodesAcceptUnknownNumbers() {
        #expect(LAError.Code(rawValue: 0) == .other(0))
        #expect(LAError.Code(rawValue: -15)?.rawValue == -15)
        #expect(LAPolicy(rawValue: 0) == nil)
        #expect(LABiometryType(rawValue: 3) == nil)
    }
}
