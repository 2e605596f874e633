// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeySystem

/// Logs the programs that may not show prompts. Any program can try that again and again, so there is at most one line in
/// ten minutes for each user.
final class AgentRefusals: Sendable {
    private let events: RareEvents<UInt32>

    init(_ clock: any Clock, _ log: any EventLog) { events = RareEvents(log, clock: clock) }

    func record(_ peer: PeerCredentials, _ reason: String) {
        events.record(
            .agentRefused,
            Failure(
                .notPermitted, "Process \(peer.processID) of user \(peer.userID) may not show prompts: \(reason).",
                hint: "See: ps -p \(peer.processID); systemctl --user status latchkey-agent"),
            for: peer.userID)
    }
}
