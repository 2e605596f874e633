// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import TPMDriver
import TPMProtocol
import TestSupport
import Testing

/// An approval is valid for a minute from the nonce of its session, and the user needs part of that time for the prompt: a
/// session that was cached is used again only while its nonce is new.
@Suite(.needs(.softwareTPM)) struct TPMSessionAgeTests {
    private let clock = VirtualClock()
    private let machine: TPMUnderTest
    private var tpm: ProxiedTPM { machine.tpm }

    init() throws { machine = try TPMUnderTest(chipClock: clock, moduleClock: clock) }

    @Test func keptSessionIsReplacedWhenItsNonceIsTwentySecondsOld() throws {
        let key = try machine.module.newKey()
        try machine.use(key)
        for (seconds, isKept) in [(19, true), (19, true), (20, false), (21, false), (19, true)] as [(Int64, Bool)] {
            clock.advance(seconds: seconds)
            tpm.inject(nil)
            try machine.use(key)
            let commands = tpm.commandNumbers
            #expect(commands.contains(TPMCommand.startAuthSession.rawValue) == !isKept, "\(seconds)")
            // The old session is removed, and does not stay in the TPM beside the new one.
            #expect(try tpm.handles(0x02).count == 1, "\(seconds)")
        }
    }
}
