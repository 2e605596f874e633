// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
package import LatchkeyWire

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
    case note(Note, message: String, hint: String)

    /// A change of login sessions.
    package enum SessionChange: UInt8, CaseIterable, Sendable {
        case changed = 1
        case locked = 2
        case ended = 3
    }

    /// The events that the process logs.
    package enum Note: UInt8, CaseIterable, Sendable {
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

// MARK: - Encoding

extension SensorMessage {
    /// The message encoded as CBOR.
    package func encoded() -> SecretBytes {
        var writer = CBORWriter()
        writer.array(2)
        switch self {
        case .look(let number): Self.write(1, number, to: &writer)
        case .arm(let number): Self.write(2, number, to: &writer)
        case .disarm(let number): Self.write(3, number, to: &writer)
        case .applied(let number): Self.write(4, number, to: &writer)
        case .received(let number): Self.write(5, number, to: &writer)
        case .sensor(let state):
            writer.unsigned(6)
            writer.array(5)
            writer.unsigned(UInt64(state.kind.rawValue))
            // Without bytes no finger is enrolled: a set has at least one.
            writer.bytes(state.enrolment?.bytes ?? [])
            writer.boolean(state.reportsEnrolmentChanges)
            writer.boolean(state.isWeak)
            writer.boolean(state.isVirtual)
        case .scanned(let number, let event):
            writer.unsigned(7)
            writer.array(2)
            writer.unsigned(number)
            event.write(to: &writer)
        case .sessions(let number, let change, let state):
            writer.unsigned(8)
            writer.array(4)
            writer.unsigned(number)
            writer.unsigned(UInt64(change.rawValue))
            writer.boolean(state.isLocked)
            switch state.biometry {
            case .every: writer.boolean(true)
            case .only(let sessions):
                writer.array(sessions.count)
                for session in sessions.sorted() { writer.text(session) }
            }
        case .note(let note, let message, let hint):
            writer.unsigned(9)
            writer.array(3)
            writer.unsigned(UInt64(note.rawValue))
            writer.text(message)
            writer.text(hint)
        }
        return writer.finish()
    }

    private static func write(_ kind: UInt64, _ number: UInt64, to writer: inout CBORWriter) {
        writer.unsigned(kind)
        writer.unsigned(number)
    }
}

extension SensorEvent {
    fileprivate func write(to writer: inout CBORWriter) {
        switch self {
        case .match(let set, let isVirtual):
            writer.array(2)
            writer.unsigned(1)
            writer.array(2)
            writer.bytes(set.bytes)
            writer.boolean(isVirtual)
        case .noMatch: writer.unsigned(2)
        case .guidance(let guidance):
            writer.array(2)
            writer.unsigned(3)
            writer.unsigned(UInt64(guidance.rawValue))
        case .inUse(let isInUse):
            writer.array(2)
            writer.unsigned(4)
            writer.boolean(isInUse)
        case .failed: writer.unsigned(5)
        case .disconnected: writer.unsigned(6)
        }
    }

    fileprivate init(from reader: inout CBORReader) throws(WireError) {
        guard reader.isAtArray else {
            switch try reader.unsigned() {
            case 2: self = .noMatch
            case 5: self = .failed
            case 6: self = .disconnected
            default: throw .invalidValue
            }
            return
        }
        self = try reader.tuple(2) { (reader) throws(WireError) -> SensorEvent in
            switch try reader.unsigned() {
            case 1: return try Self.recognised(&reader)
            case 3: return .guidance(try reader.number())
            case 4: return .inUse(try reader.boolean())
            default: throw .invalidValue
            }
        }
    }
}

extension SensorEvent {
    private static func recognised(_ reader: inout CBORReader) throws(WireError) -> SensorEvent {
        try reader.tuple(2) { (reader) throws(WireError) -> SensorEvent in
            guard let set = try SensorMessage.set(&reader) else { throw .invalidValue }
            return .match(set, isVirtual: try reader.boolean())
        }
    }
}

// MARK: - Decoding

extension SensorMessage {
    /// Decodes a payload; throws unless it is exactly one canonical message.
    package init(decoding payload: SecretBytes) throws(WireError) {
        self = try payload.withBytes { (bytes) throws(WireError) -> SensorMessage in
            var reader = CBORReader(bytes)
            let message = try reader.tuple(2) { (reader) throws(WireError) -> SensorMessage in
                switch try reader.unsigned() {
                case 1: .look(try reader.unsigned())
                case 2: .arm(try reader.unsigned())
                case 3: .disarm(try reader.unsigned())
                case 4: .applied(try reader.unsigned())
                case 5: .received(try reader.unsigned())
                case 6: .sensor(try Self.sensor(&reader))
                case 7: try Self.scanned(&reader)
                case 8: try Self.sessions(&reader)
                case 9: try Self.note(&reader)
                default: throw .unknownMessage
                }
            }
            try reader.finish()
            return message
        }
    }

    private static func sensor(_ reader: inout CBORReader) throws(WireError) -> SensorState {
        try reader.tuple(5) { (reader) throws(WireError) -> SensorState in
            let kind: BiometryKind = try reader.number()
            return SensorState(
                kind: kind, enrolment: try set(&reader), reportsEnrolmentChanges: try reader.boolean(),
                isWeak: try reader.boolean(), isVirtual: try reader.boolean())
        }
    }

    private static func scanned(_ reader: inout CBORReader) throws(WireError) -> SensorMessage {
        try reader.tuple(2) { (reader) throws(WireError) -> SensorMessage in
            .scanned(try reader.unsigned(), try SensorEvent(from: &reader))
        }
    }

    private static func sessions(_ reader: inout CBORReader) throws(WireError) -> SensorMessage {
        try reader.tuple(4) { (reader) throws(WireError) -> SensorMessage in
            let sequence = try reader.unsigned()
            let change: SessionChange = try reader.number()
            let isLocked = try reader.boolean()
            return .sessions(sequence, change, SessionState(isLocked: isLocked, biometry: try biometry(&reader)))
        }
    }

    private static func biometry(_ reader: inout CBORReader) throws(WireError) -> BiometrySessions {
        guard reader.isAtArray else {
            guard try reader.boolean() else { throw .invalidValue }
            return .every
        }
        var sessions: [String] = []
        try reader.array(limit: Limits.loginSessions) { (reader) throws(WireError) in
            let session = try reader.text(limit: Limits.applicationBytes)
            if let last = sessions.last, last >= session { throw .notCanonical }
            sessions.append(session)
        }
        return .only(Set(sessions))
    }

    private static func note(_ reader: inout CBORReader) throws(WireError) -> SensorMessage {
        try reader.tuple(3) { (reader) throws(WireError) -> SensorMessage in
            let note: Note = try reader.number()
            let message = try reader.text(limit: textBytes)
            return .note(note, message: message, hint: try reader.text(limit: textBytes))
        }
    }

    fileprivate static func set(_ reader: inout CBORReader) throws(WireError) -> EnrolmentSet? {
        let bytes = try reader.bytes(limit: EnrolmentSet.maximumBytes)
        return bytes.isEmpty ? nil : EnrolmentSet(bytes)
    }
}
