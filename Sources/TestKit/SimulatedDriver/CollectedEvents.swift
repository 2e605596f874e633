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

    package func note(_ event: DaemonEvent, _ failure: Failure?) {
        collected.withLock { $0.append(Entry(event: event, failure: failure)) }
    }
}
