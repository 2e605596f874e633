// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

private let cursorBytes = 16

extension CBORReader {
    fileprivate mutating func cursor() throws(WireError) -> [UInt8] {
        let bytes = try bytes(limit: cursorBytes)
        guard bytes.count == cursorBytes else { throw .invalidValue }
        return bytes
    }
}

extension Request.ExportItems {
    func write(to writer: inout CBORWriter) {
        writer.map(cursor == nil ? 0 : 1)
        guard let cursor else { return }
        writer.unsigned(0)
        writer.bytes(cursor)
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var cursor: [UInt8]?
        try reader.map { (reader, key) throws(WireError) in
            guard key == 0 else { return false }
            cursor = try reader.cursor()
            return true
        }
        self.init(cursor: cursor)
    }
}

extension Request.ImportItems {
    func write(to writer: inout CBORWriter) {
        writer.map(cursor == nil ? 2 : 3)
        if let cursor {
            writer.unsigned(0)
            writer.bytes(cursor)
        }
        writer.unsigned(1)
        writer.bytes(bytes)
        writer.unsigned(2)
        writer.boolean(isLast)
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var cursor: [UInt8]?
        var bytes: [UInt8]?
        var isLast: Bool?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: cursor = try reader.cursor()
            case 1: bytes = try reader.bytes(limit: Limits.importedBytes)
            case 2: isLast = try reader.boolean()
            default: return false
            }
            return true
        }
        self.init(cursor: cursor, bytes: try required(bytes, 1), isLast: try required(isLast, 2))
    }
}

extension StayingItems {
    /// `[count, [[class, group, account, service, label, reason] ...]]`.
    fileprivate func write(to writer: inout CBORWriter) {
        writer.array(2)
        writer.unsigned(count)
        writer.array(named.count)
        for item in named {
            writer.array(6)
            writer.unsigned(UInt64(item.itemClass.rawValue))
            for text in [item.group, item.account, item.service, item.label] { writer.text(text) }
            writer.unsigned(UInt64(item.reason.rawValue))
        }
    }

    fileprivate init(from reader: inout CBORReader) throws(WireError) {
        self = try reader.tuple(2) { (reader) throws(WireError) in
            let count = try reader.unsigned()
            var named: [StayingItem] = []
            try reader.array(limit: Limits.stayingItems) { (reader) throws(WireError) in
                let item = try reader.tuple(6) { (reader) throws(WireError) in
                    let itemClass: ItemClass = try reader.number()
                    let (group, account) = (try reader.stayingText(), try reader.stayingText())
                    let (service, label) = (try reader.stayingText(), try reader.stayingText())
                    return StayingItem(
                        itemClass: itemClass, group: group, account: account, service: service, label: label,
                        reason: try reader.number())
                }
                named.append(item)
            }
            return StayingItems(named: named, count: count)
        }
    }
}

extension CBORReader {
    fileprivate mutating func stayingText() throws(WireError) -> String {
        try text(limit: 4 * Limits.stayingCharacters)
    }
}

extension Reply.Exported {
    func write(to writer: inout CBORWriter) {
        writer.map(cursor == nil ? 3 : 4)
        writer.unsigned(0)
        writer.bytes(bytes)
        writer.unsigned(1)
        writer.unsigned(count)
        writer.unsigned(2)
        staying.write(to: &writer)
        guard let cursor else { return }
        writer.unsigned(3)
        writer.bytes(cursor)
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var bytes: [UInt8]?
        var count: UInt64?
        var staying: StayingItems?
        var cursor: [UInt8]?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: bytes = try reader.bytes(limit: Limits.exportedBytes)
            case 1: count = try reader.unsigned()
            case 2: staying = try StayingItems(from: &reader)
            case 3: cursor = try reader.cursor()
            default: return false
            }
            return true
        }
        self.init(
            bytes: try required(bytes, 0), count: try required(count, 1), staying: try required(staying, 2),
            cursor: cursor)
    }
}

extension Reply.Imported {
    func write(to writer: inout CBORWriter) {
        writer.map(cursor == nil ? 4 : 5)
        writer.unsigned(0)
        writer.boolean(wantsStart)
        writer.unsigned(1)
        writer.unsigned(added)
        writer.unsigned(2)
        writer.unsigned(present)
        writer.unsigned(3)
        staying.write(to: &writer)
        guard let cursor else { return }
        writer.unsigned(4)
        writer.bytes(cursor)
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var wantsStart: Bool?
        var added: UInt64?
        var present: UInt64?
        var staying: StayingItems?
        var cursor: [UInt8]?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: wantsStart = try reader.boolean()
            case 1: added = try reader.unsigned()
            case 2: present = try reader.unsigned()
            case 3: staying = try StayingItems(from: &reader)
            case 4: cursor = try reader.cursor()
            default: return false
            }
            return true
        }
        self.init(
            wantsStart: try required(wantsStart, 0), added: try required(added, 1),
            present: try required(present, 2), staying: try required(staying, 3), cursor: cursor)
    }
}
