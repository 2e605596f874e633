// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyService
import SimulatedDriver
import Testing

/// Failures that no reply reports are logged.
@Suite struct UnreportedFailureTests {
    private let events = CollectedEvents()

    private func machine() throws -> SimulatedService {
        try SimulatedService(scriptsStore: true) { parts, world in
            parts.log = events
            parts.sessions = world
        }
    }

    @Test func lockThatCannotBeStoredAppliesAndIsLogged() throws {
        let machine = try machine()
        _ = try machine.world.apply(.fail(.diskFull))
        _ = try machine.world.apply(.lock)
        #expect(events.entries.map(\.event) == [.lockNotKept])
        #expect(events.entries.first?.failure?.status == .diskFull)
        #expect(machine.keychain.tree.lockState.isLocked)
    }

    @Test func successIsNotLogged() throws {
        let machine = try machine()
        _ = try machine.world.apply(.lock)
        _ = try machine.world.apply(.unlock(byBiometry: false))
        #expect(events.entries.isEmpty)
    }
}
