// SPDX-License-Identifier: Apache-2.0

import Foundation
package import LatchkeyModel
import LatchkeySeams
import Synchronization
import Testing

/// A log that a test reads.
package final class CollectedNotes: EventLog {
    private let notes = Mutex<[(DaemonEvent, Failure?)]>([])
    private let arrived = DispatchSemaphore(value: 0)

    package init() {}

    package func note(_ event: DaemonEvent, _ failure: Failure?) {
        notes.withLock { $0.append((event, failure)) }
        arrived.signal()
    }

    /// Waits until an event was noted.
    package func wait(for event: DaemonEvent) throws {
        while !events.contains(event) { try arrived.signalled() }
    }

    package var events: [DaemonEvent] { notes.withLock { $0.map(\.0) } }
    package var messages: [String] { notes.withLock { $0.map { "\($0.1?.message ?? "") \($0.1?.hint ?? "")" } } }
}
