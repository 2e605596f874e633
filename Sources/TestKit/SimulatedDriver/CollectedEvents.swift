// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import Synchronization

/// An event log in memory, for tests to inspect.
package final class CollectedEvents: EventLog {
    /// One logged event.
    package struct Entry: Sendable {
        package let event: DaemonEvent
        package let failure: Failure?
    }

    private let collected = Mutex<[Entry]>([])

    package init() {}

    /// The events so far, oldest first.
    package var entries: [Entry] { collected.withLock { $0 } }

    package func record(_ event: DaemonEvent, _ failure: Failure?) {
        collected.withLock { $0.append(Entry(event: event, failure: failure)) }
    }
}

/// The transcript of a simulated machine: one line for each event, with its time. Contains no passcode and no secret.
package final class SimulatedRecord: Sendable {
    private let clock: VirtualClock
    private let state = Mutex<[String]>([])

    init(clock: VirtualClock) { self.clock = clock }

    /// The newest lines, oldest first.
    package var lines: [String] { state.withLock { $0 } }

    /// Adds a line with the current time.
    package func record(_ words: String) {
        let line = "\(clock.sinceStart / 1_000_000_000) s  \(words)"
        state.withLock { lines in
            if lines.count == Limits.transcriptLines { lines.removeFirst() }
            lines.append(line)
        }
    }

    package func clear() { state.withLock { $0 = [] } }
}
