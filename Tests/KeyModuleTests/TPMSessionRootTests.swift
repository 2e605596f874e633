// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import SystemDriver
import TPMProtocol
import TestSupport
import Testing

@testable import TPMDriver

/// Who has the private part of the storage root key for which a session is salted can read what the session encrypts.
@Suite(.needs(.softwareTPM)) struct TPMSessionRootTests {
    @Test func cachedSessionServesKeysOfItsStorageRootKeyOnly() throws {
        let machine = try TPMUnderTest()
        let clock = VirtualClock()
        var client = TPMClient(machine.tpm, clock: clock, random: SystemRandomSource())
        let root = try client.storageRoot(named: nil)
        let name = root.entity.name
        for (parent, isTaken) in [(name, true), (Array(name.reversed()), false)] {
            client.storeSession(try client.startSession(.policy, salted: root))
            let session = try client.takeIdleSession(below: parent)
            #expect((session != nil) == isTaken)
            if let session { client.forgetSession(session) }
            // One that is not taken is removed, and does not stay in the TPM.
            #expect(try machine.tpm.handles(0x02).isEmpty)
        }
    }
}
