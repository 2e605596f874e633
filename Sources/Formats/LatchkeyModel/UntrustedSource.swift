// SPDX-License-Identifier: Apache-2.0

/// What a message, a service or a file was for that was not trusted. Raw values are part of the wire format and never
/// reused.
package enum UntrustedSource: UInt8, CaseIterable, Sendable {
    case sensor = 1
    case sessions = 2
    /// The service file of PAM, or a module that PAM has loaded.
    case accounts = 3

    /// The source whose refusal a daemon logs as `event`; nil for other events.
    package init?(_ event: DaemonEvent) {
        switch event {
        case .sensorRefused: self = .sensor
        case .sessionsRefused: self = .sessions
        case .accountsRefused: self = .accounts
        default: return nil
        }
    }

    /// The event of the audit log that records a refusal.
    package var auditEvent: AuditEvent {
        switch self {
        case .sensor: .sensorRefused
        case .sessions: .sessionsRefused
        case .accounts: .accountsRefused
        }
    }
}
