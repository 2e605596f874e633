// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension Request.Log {
    func write(to writer: inout CBORWriter) {
        writer.map(3)
        writer.unsigned(0)
        writer.integer(after)
        writer.unsigned(1)
        writer.unsigned(limit)
        writer.unsigned(2)
        writer.boolean(verifies)
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var after: Int64?
        var limit: UInt64?
        var verifies: Bool?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: after = try reader.integer()
            case 1: limit = try reader.unsigned()
            case 2: verifies = try reader.boolean()
            default: return false
            }
            return true
        }
        self.init(after: try required(after, 0), limit: try required(limit, 1), verifies: try required(verifies, 2))
    }
}

extension AuditLine {
    fileprivate func write(to writer: inout CBORWriter) {
        writer.array(7)
        writer.integer(sequence)
        writer.integer(time)
        writer.unsigned(UInt64(event?.rawValue ?? 0))
        writer.bytes(item)
        writer.text(caller)
        writer.integer(Int64(processID))
        writer.unsigned(count)
    }

    fileprivate init(from reader: inout CBORReader) throws(WireError) {
        self = try reader.tuple(7) { (reader) throws(WireError) in
            var line = AuditLine(sequence: try reader.integer(), time: try reader.integer())
            let event = try reader.unsigned()
            if event != 0 {
                guard let raw = UInt8(exactly: event), let known = AuditEvent(rawValue: raw) else {
                    throw .invalidValue
                }
                line.event = known
            }
            line.item = try reader.bytes(limit: Limits.applicationBytes)
            line.caller = try reader.text()
            line.processID = try reader.processID()
            line.count = try reader.unsigned()
            return line
        }
    }
}

extension AuditPage {
    func write(to writer: inout CBORWriter) {
        writer.map(finding == nil ? 2 : 3)
        writer.unsigned(0)
        writer.array(lines.count)
        for line in lines { line.write(to: &writer) }
        writer.unsigned(1)
        writer.integer(last)
        if let finding {
            writer.unsigned(2)
            finding.write(to: &writer)
        }
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var lines: [AuditLine]?
        var last: Int64?
        var finding: Finding?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0:
                var all: [AuditLine] = []
                try reader.array { (reader) throws(WireError) in all.append(try AuditLine(from: &reader)) }
                lines = all
            case 1: last = try reader.integer()
            case 2: finding = try Finding(from: &reader)
            default: return false
            }
            return true
        }
        self.init(lines: try required(lines, 0), last: try required(last, 1), finding: finding)
    }
}
