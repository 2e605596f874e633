// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension Request.ExportItems {
    func write(to writer: inout CBORWriter) {
        writer.map(2)
        writer.unsigned(0)
        writer.bytes(context.bytes)
        writer.unsigned(1)
        writer.integer(after)
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var context: ContextHandle?
        var after: Int64?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: context = try reader.contextHandle()
            case 1: after = try reader.integer()
            default: return false
            }
            return true
        }
        self.init(context: try required(context, 0), after: try required(after, 1))
    }
}

extension Request.ImportItem {
    func write(to writer: inout CBORWriter) {
        writer.map(2)
        writer.unsigned(0)
        writer.bytes(context.bytes)
        writer.unsigned(1)
        item.write(to: &writer)
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var context: ContextHandle?
        var item: FoundItem?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: context = try reader.contextHandle()
            case 1: item = try FoundItem(from: &reader)
            default: return false
            }
            return true
        }
        self.init(context: try required(context, 0), item: try required(item, 1))
    }
}

extension Reply.ExportedItems {
    func write(to writer: inout CBORWriter) {
        writer.map(next == nil ? 2 : 3)
        writer.unsigned(0)
        writer.array(items.count)
        for item in items { item.write(to: &writer) }
        writer.unsigned(1)
        writer.unsigned(leftOut)
        guard let next else { return }
        writer.unsigned(2)
        writer.integer(next)
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var items: [FoundItem]?
        var leftOut: UInt64?
        var next: Int64?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0:
                var read: [FoundItem] = []
                try reader.array { (reader) throws(WireError) in read.append(try FoundItem(from: &reader)) }
                items = read
            case 1: leftOut = try reader.unsigned()
            case 2: next = try reader.integer()
            default: return false
            }
            return true
        }
        self.init(items: try required(items, 0), leftOut: try required(leftOut, 1), next: next)
    }
}
