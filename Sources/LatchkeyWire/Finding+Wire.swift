// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension Finding {
    /// Writes `[kind, number, item, words]`.
    func write(to writer: inout CBORWriter) {
        writer.array(4)
        writer.unsigned(UInt64(kind.rawValue))
        writer.integer(number)
        writer.bytes(item)
        writer.text(words)
    }

    init(from reader: inout CBORReader) throws(WireError) {
        self = try reader.tuple(4) { (reader) throws(WireError) in
            Finding(
                try reader.number(), number: try reader.integer(), item: try reader.bytes(limit: 64),
                words: try reader.text(limit: Limits.titleBytes))
        }
    }
}

extension CheckReport {
    func write(to writer: inout CBORWriter) {
        writer.map(4)
        writer.unsigned(0)
        writer.boolean(more)
        writer.unsigned(1)
        writer.unsigned(done)
        writer.unsigned(2)
        writer.unsigned(total)
        writer.unsigned(3)
        writer.array(findings.count)
        for finding in findings { finding.write(to: &writer) }
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var more: Bool?
        var done: UInt64?
        var total: UInt64?
        var findings: [Finding]?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: more = try reader.boolean()
            case 1: done = try reader.unsigned()
            case 2: total = try reader.unsigned()
            case 3:
                var all: [Finding] = []
                try reader.array { (reader) throws(WireError) in all.append(try Finding(from: &reader)) }
                findings = all
            default: return false
            }
            return true
        }
        self.init(
            more: try required(more, 0), done: try required(done, 1), total: try required(total, 2),
            findings: try required(findings, 3))
    }
}
