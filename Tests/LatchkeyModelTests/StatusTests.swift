// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

/// The texts of each status for people and scripts.
@Suite struct StatusTests {
    @Test(arguments: Status.allCases) func everyStatusHasASentence(_ status: Status) {
        let sentence = status.sentence.description
        #expect(sentence.hasSuffix(".") && sentence.contains(" "))
        #expect(sentence.first?.isUppercase == true)
        #expect(!status.advice.description.hasSuffix(" "))
    }

    /// The exit statuses of the manual page; every other status has 1.
    private static let codes: [Status: Int32] = [
        .itemNotFound: 66,
        .daemonUnavailable: 69, .noHome: 69, .peerNotTrusted: 69, .timedOut: 69,
        .duplicateItem: 73, .interrupted: 130,
        .authenticationFailed: 77, .itemAuthenticationFailed: 77, .userCancel: 77, .userFallback: 77, .systemCancel: 77,
        .passcodeNotSet: 77, .biometryNotAvailable: 77, .biometryNotEnrolled: 77, .biometryLockout: 77,
        .biometryDisconnected: 77, .biometryNotPaired: 77, .companionNotAvailable: 77, .appCancel: 77,
        .notInteractive: 77, .interactionNotAllowed: 77, .passcodeDelayed: 77, .missingEntitlement: 77,
        .notPermitted: 77, .promptDelayed: 77,
    ]

    @Test(arguments: Status.allCases) func everyStatusHasAnExitCode(_ status: Status) {
        #expect(status.exitCode == Self.codes[status] ?? 1)
    }

    @Test func aFailureWithoutAMessageSaysWhatItsStatusSays() {
        let bare = Failure(.biometryDisconnected)
        #expect(bare.text == "The sensor was disconnected." && bare.advice == "Connect it and try again.")
        let told = Failure(.biometryDisconnected, "The reader fell off the table.")
        #expect(told.text == told.message && told.advice.isEmpty)
    }
}
