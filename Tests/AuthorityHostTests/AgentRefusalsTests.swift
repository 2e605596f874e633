// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import SimulatedDriver
import Testing

@testable import AuthorityDaemon
@testable import LatchkeySystem

/// Programs that may not show prompts do not fill the log.
@Suite struct AgentRefusalsTests {
    @Test func aProgramThatTriesAgainAndAgainIsLoggedOnceForItsUser() {
        let (clock, log) = (VirtualClock(), CollectedEvents())
        let refusals = AgentRefusals(clock, log)
        for process: Int32 in 1...50 {
            refusals.record(PeerCredentials(processID: process, userID: 1000, groupID: 1000), "it is no agent")
        }
        refusals.record(PeerCredentials(processID: 60, userID: 1001, groupID: 1001), "it is no agent")
        #expect(log.entries.map(\.event) == [.agentRefused, .agentRefused])
        #expect(
            log.entries.map(\.failure?.message) == [
                "Process 1 of user 1000 may not show prompts: it is no agent.",
                "Process 60 of user 1001 may not show prompts: it is no agent.",
            ])
        clock.advance(seconds: 600)
        refusals.record(PeerCredentials(processID: 70, userID: 1000, groupID: 1000), "it is no agent")
        #expect(log.entries.count == 3)
    }
}
