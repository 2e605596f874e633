// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A message between `latchkeyd` of tier `user` and `latchkey-authd --user`: `[kind, contents]` in a frame of at most
/// `SensorMessage.bytes`.
///
/// The process reports about its own user only, so no message names one.
package enum SensorMessage: Equatable, Sendable {
    /// To the process: determine the state of the sensor again and report it. The first message has this kind.
    case look(UInt64)
    /// To the process: scan for a finger, under a number that no other scan of the connection has.
    case arm(UInt64)
    /// To the process: end that scan.
    case disarm(UInt64)
    /// To the process: the change of sessions with that number has taken effect.
    case applied(UInt64)
    /// From the process: `look` or `arm` with that number was received. Sent at once.
    case received(UInt64)
    /// From the process: the present state of the sensor.
    case sensor(SensorState)
    /// From the process: the result of the scan with that number.
    case scanned(UInt64, SensorEvent)
    /// From the process: the sessions changed, and their state is this. The change is confirmed with `applied`.
    case sessions(UInt64, SessionChange, SessionState)
    /// From the process: a line for the log.
    case log(LogEvent, message: String, hint: String)

    package enum SessionChange: UInt8, CaseIterable, Sendable {
        case changed = 1
        case locked = 2
        case ended = 3
    }

    /// The events that the process logs.
    package enum LogEvent: UInt8, CaseIterable, Sendable {
        case sensorFailed = 1
        case sensorRefused = 2
        case sessionsUnknown = 3
        case sessionsRefused = 4
        case sleepNotDelayed = 5
    }

    /// Maximum bytes of a message: the identifiers of `Limits.loginSessions` sessions are the most.
    package static let bytes = 20 << 10
    /// Maximum bytes of a text in UTF-8; the process cuts longer ones.
    package static let textBytes = 512
}

// MARK: - Encoding and decoding

extension SensorMessage {
    package func encoded() -> SecretBytes {
        var writer = CBORWriter()
        switch self {
        case .look(let number): writer.message(1, number, .unsigned)
        case .arm(let number): writer.message(2, number, .unsigned)
        case .disarm(let number): writer.message(3, number, .unsigned)
        case .applied(let number): writer.message(4, number, .unsigned)
        case .received(let number): writer.message(5, number, .unsigned)
        case .sensor(let state): writer.message(6, Sensor(state: state))
        case .scanned(let number, let event): writer.message(7, Scanned(number: number, event: event))
        case .sessions(let number, let change, let state):
            writer.message(8, Sessions(number: number, change: change, state: state))
        case .log(let event, let message, let hint):
            writer.message(9, LogLine(event: event, message: message, hint: hint))
        }
        return writer.finish()
    }

    /// Decodes a payload; throws unless it is exactly one canonical message.
    package init(decoding payload: SecretBytes) throws(WireError) {
        self = try CBORReader.message(of: payload) { (reader, kind) throws(WireError) -> SensorMessage in
            switch kind {
            case 1: return .look(try reader.value(.unsigned))
            case 2: return .arm(try reader.value(.unsigned))
            case 3: return .disarm(try reader.value(.unsigned))
            case 4: return .applied(try reader.value(.unsigned))
            case 5: return .received(try reader.value(.unsigned))
            case 6: return .sensor(try Sensor(from: &reader).state)
            case 7:
                let scanned = try Scanned(from: &reader)
                return .scanned(scanned.number, scanned.event)
            case 8:
                let sessions = try Sessions(from: &reader)
                return .sessions(sessions.number, sessions.change, sessions.state)
            case 9:
                let line = try LogLine(from: &reader)
                return .log(line.event, message: line.message, hint: line.hint)
            default: throw .unknownMessage
            }
        }
    }
}

private struct Sensor: WireTuple {
    var state: SensorState

    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            state: SensorState(
                kind: try tuple.field(0, \.state.kind, .number()),
                enrolment: try tuple.field(1, \.state.enrolment, PresentEnrolmentShape()),
                reportsEnrolmentChanges: try tuple.field(2, \.state.reportsEnrolmentChanges, .boolean),
                isWeak: try tuple.field(3, \.state.isWeak, .boolean),
                isVirtual: try tuple.field(4, \.state.isVirtual, .boolean)))
    }
}

/// An enrolment set; no bytes if no finger is enrolled, because a set has at least one byte.
private struct PresentEnrolmentShape: WireShape {
    func write(_ value: EnrolmentSet?, to writer: inout CBORWriter) { writer.bytes(value?.bytes ?? []) }

    func read(from reader: inout CBORReader) throws(WireError) -> EnrolmentSet? {
        let bytes = try reader.bytes(limit: EnrolmentSet.maximumBytes)
        return bytes.isEmpty ? nil : EnrolmentSet(bytes)
    }
}

private struct Scanned: WireTuple {
    var number: UInt64
    var event: SensorEvent

    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(number: try tuple.field(0, \.number, .unsigned), event: try tuple.field(1, \.event, EventShape()))
    }
}

/// `[kind, contents]`, or the kind alone if the event has no contents.
private struct EventShape: WireShape {
    func write(_ value: SensorEvent, to writer: inout CBORWriter) {
        switch value {
        case .match(let set, let isVirtual): writer.message(1, Match(set: set, isVirtual: isVirtual))
        case .noMatch: writer.unsigned(2)
        case .guidance(let guidance): writer.message(3, guidance, .number())
        case .inUse(let isInUse): writer.message(4, isInUse, .boolean)
        case .failed: writer.unsigned(5)
        case .disconnected: writer.unsigned(6)
        }
    }

    func read(from reader: inout CBORReader) throws(WireError) -> SensorEvent {
        guard reader.isAtArray else {
            switch try reader.unsigned() {
            case 2: return .noMatch
            case 5: return .failed
            case 6: return .disconnected
            default: throw .invalidValue
            }
        }
        return try reader.message { (reader, kind) throws(WireError) -> SensorEvent in
            switch kind {
            case 1:
                let match = try Match(from: &reader)
                return .match(match.set, isVirtual: match.isVirtual)
            case 3: return .guidance(try reader.value(.number()))
            case 4: return .inUse(try reader.value(.boolean))
            default: throw .invalidValue
            }
        }
    }
}

private struct Match: WireTuple {
    var set: EnrolmentSet
    var isVirtual: Bool

    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(set: try tuple.field(0, \.set, EnrolmentShape()), isVirtual: try tuple.field(1, \.isVirtual, .boolean))
    }
}

private struct Sessions: WireTuple {
    var number: UInt64
    var change: SensorMessage.SessionChange
    var state: SessionState

    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            number: try tuple.field(0, \.number, .unsigned),
            change: try tuple.field(1, \.change, .number()),
            state: SessionState(
                isLocked: try tuple.field(2, \.state.isLocked, .boolean),
                biometry: try tuple.field(3, \.state.biometry, SessionsShape())))
    }
}

private struct LogLine: WireTuple {
    var event: SensorMessage.LogEvent
    var message: String
    var hint: String

    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            event: try tuple.field(0, \.event, .number()),
            message: try tuple.field(1, \.message, .text(limit: SensorMessage.textBytes)),
            hint: try tuple.field(2, \.hint, .text(limit: SensorMessage.textBytes)))
    }
}
