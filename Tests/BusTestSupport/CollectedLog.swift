// SPDX-License-Identifier: Apache-2.0

import Foundation
package import LatchkeyModel
import LatchkeySeams
import TestSupport
import Testing

/// A log that a test reads.
package final class CollectedLog: EventLog {
    private let lines = Recorder<(DaemonEvent, Failure?)>()

    package init() {}

    package func record(_ event: DaemonEvent, _ failure: Failure?) { lines.add((event, failure)) }

    /// Waits until an event was recorded.
    package func wait(for event: DaemonEvent) throws { try lines.first { $0.0 == event } }

    package var events: [DaemonEvent] { lines.all.map(\.0) }
    package var messages: [String] { lines.all.map { "\($0.1?.message ?? "") \($0.1?.hint ?? "")" } }
}
