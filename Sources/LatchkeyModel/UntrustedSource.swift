// SPDX-License-Identifier: Apache-2.0

/// What a message or a service that was not trusted claims to be. Raw values are part of the wire format and never
/// reused.
package enum UntrustedSource: UInt8, CaseIterable, Sendable {
    case sensor = 1
    case sessions = 2

    /// The source whose refusal a daemon logs as `event`; nil for other events.
    package init?(_ event: DaemonEvent) {
        switch event {
        case .sensorRefused: self = .sensor
        case .sessionsRefused: self = .sessions
        default: return nil
        }
    }

    /// The event of the audit log that records a refusal.
    package var auditEvent: AuditEvent {
        switch self {
        case .sensor: .sensorRefused
        case .sessions: .sessionsRefused
        }
    }
}
