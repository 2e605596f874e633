// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

// The log of the process: it has no file of its own, and latchkeyd writes its lines.

extension SensorMessage {
    /// The line of an event; nil for an event that the process does not log. Longer texts are cut.
    package static func line(_ event: DaemonEvent, _ failure: Failure?) -> SensorMessage? {
        guard let line = LogEvent.allCases.first(where: { $0.event == event }) else { return nil }
        return .log(line, message: cut(failure?.message), hint: cut(failure?.hint))
    }

    private static func cut(_ text: Phrase?) -> String {
        var cut = text?.description ?? ""
        while cut.utf8.count > textBytes { cut.removeLast(max(1, (cut.utf8.count - textBytes) / 4)) }
        return cut
    }
}

extension SensorMessage.LogEvent {
    package var event: DaemonEvent {
        switch self {
        case .sensorFailed: .sensorFailed
        case .sensorRefused: .sensorRefused
        case .sessionsUnknown: .sessionsUnknown
        case .sessionsRefused: .sessionsRefused
        case .sleepNotDelayed: .sleepNotDelayed
        }
    }

    package var status: Status {
        switch self {
        case .sensorFailed: .biometryNotAvailable
        case .sensorRefused, .sessionsRefused: .peerNotTrusted
        case .sessionsUnknown: .daemonUnavailable
        case .sleepNotDelayed: .notPermitted
        }
    }
}
