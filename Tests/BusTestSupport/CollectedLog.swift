// SPDX-License-Identifier: Apache-2.0

import Foundation
package import LatchkeyModel
import LatchkeySeams
import Synchronization
import Testing

/// A log that a test reads.
package final class CollectedLog: EventLog {
    private let lines = Mutex<[(DaemonEvent, Failure?)]>([])
    private let arrived = DispatchSemaphore(value: 0)

    package init() {}

    package func record(_ event: DaemonEvent, _ failure: Failure?) {
        lines.withLock { $0.append((event, failure)) }
        arrived.signal()
    }

    /// Waits until an event was recorded.
    package func wait(for event: DaemonEvent) throws {
        while !events.contains(event) { try arrived.signalled() }
    }

    package var events: [DaemonEvent] { lines.withLock { $0.map(\.0) } }
    package var messages: [String] { lines.withLock { $0.map { "\($0.1?.message ?? "") \($0.1?.hint ?? "")" } } }
}
