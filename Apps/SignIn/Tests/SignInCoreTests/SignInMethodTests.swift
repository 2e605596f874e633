// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import Testing

@testable import SignInCore

/// The words and icons of each sensor, and what takes its place when it cannot be used.
@Suite struct SignInMethodTests {
    @Test(
        arguments: zip(
            [Biometry.touchID, .faceID], ["Sign In with Fingerprint", "Sign In with Face ID"]))
    func theSensorNamesTheButton(kind: Biometry, title: String) {
        for release in Account.Release.allCases {
            let method = SignInMethod(.available(kind), release: release)
            #expect(method == .biometry(kind))
            #expect(method.title("Sign In") == title)
            #expect(method.iconName == kind.themeIconName)
            #expect(method.symbolName == kind.symbolName)
            #expect(method.explanation == nil)
        }
    }

    @Test(arguments: [
        BiometrySupport.none, .lockedOut(.touchID), .notEnrolled(.faceID), .notAvailable(.touchID),
    ]) func aKeyThatAcceptsThePasscodeUsesItWithoutTheSensor(support: BiometrySupport) {
        let method = SignInMethod(support, release: .presence)
        #expect(method == .passcode)
        #expect(method.title("Sign In") == "Sign In with Passcode")
        #expect(method.asking == "Enter the passcode of this device.")
    }

    @Test func aLockedSensorIsUnlockedByThePasscode() {
        let method = SignInMethod(.lockedOut(.touchID), release: .biometry)
        #expect(method == .passcodeForSensor(.touchID))
        #expect(method.title("Sign In") == "Unlock Fingerprint with Passcode")
        #expect(method.explanation?.contains("The passcode unlocks it.") == true)
    }

    @Test(arguments: [BiometrySupport.none, .notEnrolled(.faceID), .notAvailable(.touchID)])
    func aSensorThatCannotBeUsedLeadsToWords(support: BiometrySupport) {
        let method = SignInMethod(support, release: .biometry)
        #expect(!method.isPossible)
        #expect(method.explanation?.hasPrefix(support.explanation ?? "?") == true)
        #expect(method.explanation?.hasSuffix("choose the passcode.") == true)
    }

    @Test func aFaceIsNeverCalledAFinger() {
        let method = SignInMethod(.available(.faceID), release: .biometry)
        for text in [method.title("Sign In"), method.asking, method.noun, method.name] {
            #expect(!text.lowercased().contains("finger"))
        }
    }
}
