// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension Request.Log: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(after: try map.field(0, \.after), limit: try map.field(1, \.limit), verifies: try map.field(2, \.verifies))
    }
}

extension AuditPage: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            lines: try map.field(0, \.lines, .list()),
            last: try map.field(1, \.last),
            finding: try map.optional(2, \.finding))
    }
}

extension AuditLine: WireTuple, WireValue {
    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            sequence: try tuple.field(0, \.sequence),
            time: try tuple.field(1, \.time),
            event: try tuple.field(2, \.event, AuditEventShape()),
            item: try tuple.field(3, \.item, .bytes(limit: Limits.applicationBytes)),
            caller: try tuple.field(4, \.caller, .text()),
            processID: try tuple.field(5, \.processID),
            count: try tuple.field(6, \.count))
    }
}

/// The number of an event; 0 represents nil.
private struct AuditEventShape: WireShape {
    func write(_ value: AuditEvent?, to writer: inout CBORWriter) { writer.unsigned(UInt64(value?.rawValue ?? 0)) }

    func read(from reader: inout CBORReader) throws(WireError) -> AuditEvent? {
        let number = try reader.unsigned()
        if number == 0 { return nil }
        guard let raw = UInt8(exactly: number), let event = AuditEvent(rawValue: raw) else { throw .invalidValue }
        return event
    }
}
