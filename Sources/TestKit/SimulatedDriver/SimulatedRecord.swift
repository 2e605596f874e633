// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// The transcript of a simulated machine: one line for each event, with its time. Contains no passcode and no secret.
package final class SimulatedRecord: Sendable {
    private let clock: VirtualClock
    private let state = Mutex<[String]>([])

    init(clock: VirtualClock) { self.clock = clock }

    /// The newest lines, oldest first.
    package var lines: [String] { state.withLock { $0 } }

    /// Adds a line with the current time.
    package func note(_ words: String) {
        let line = "\(clock.sinceStart / 1_000_000_000) s  \(words)"
        state.withLock { lines in
            if lines.count == Limits.transcriptLines { lines.removeFirst() }
            lines.append(line)
        }
    }

    package func clear() { state.withLock { $0 = [] } }
}
