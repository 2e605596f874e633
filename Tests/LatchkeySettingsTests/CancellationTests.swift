// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LatchkeyDesktop

@Suite struct CancellationTests {
    /// Without the check before the connection is made, this call would start a daemon.
    @Test func aCancelledControlMakesNoConnection() {
        let control = KeychainControl()
        control.cancel()
        #expect { try control.overview() } throws: { ($0 as? SettingsFailure)?.code == .cancelled }
        #expect { try control.setPasscode() } throws: { ($0 as? SettingsFailure)?.code == .cancelled }
    }

    @Test func aCancelledFingerprintControlStartsNoProgram() {
        let control = FingerprintControl()
        control.cancel()
        #expect { try control.readers() } throws: { error in
            // Where the program is not installed, that is found first.
            [.cancelled, .unavailable].contains((error as? SettingsFailure)?.code)
        }
    }
}
