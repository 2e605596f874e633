// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import Synchronization

/// A log in memory, for tests to look at.
package final class CollectedEvents: EventLog {
    /// One entry.
    package struct Entry: Sendable {
        package let event: DaemonEvent
        package let failure: Failure?
    }

    private let collected = Mutex<[Entry]>([])

    package init() {}

    /// What was written down so far.
    package var entries: [Entry] { collected.withLock { $0 } }

    package func note(_ event: DaemonEvent, _ failure: Failure?) {
        collected.withLock { $0.append(Entry(event: event, failure: failure)) }
    }
}
