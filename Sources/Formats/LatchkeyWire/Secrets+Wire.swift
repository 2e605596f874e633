// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension Request.UseSecrets: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            process: try map.field(0, \.process),
            isPinned: try map.field(1, \.isPinned),
            action: try map.field(2, \.action),
            prompting: try map.field(3, \.prompting))
    }
}

extension SecretAction: WireValue {
    package func write(to writer: inout CBORWriter) {
        switch self {
        case .store(let item, let replaces): writer.message(1, Stored(item: item, replaces: replaces))
        case .search(let collection, let pairs):
            writer.message(2, Search(collection: collection, pairs: pairs), OwnShape())
        case .read(let items): writer.message(3, items, .names)
        case .change(let item, let changes): writer.message(4, Changed(item: item, changes: changes))
        case .delete(let item): writer.message(5, item, .name)
        case .collections: writer.message(6)
        case .createCollection(let label): writer.message(7, label, .label)
        case .renameCollection(let collection, let label):
            writer.message(8, Named(collection: collection, label: label))
        case .deleteCollection(let collection): writer.message(9, collection, .name)
        case .answers: writer.message(10)
        case .forgetAnswer(let item, let answer): writer.message(11, Answer(item: item, answer: answer))
        case .protectNew(let collection, let control):
            writer.message(12, Protected(name: collection, control: control))
        case .everyItem: writer.message(13)
        case .unlock: writer.message(14)
        case .protectItem(let item, let control): writer.message(15, Protected(name: item, control: control))
        }
    }

    package init(from reader: inout CBORReader) throws(WireError) {
        self = try reader.message { (reader, kind) throws(WireError) -> SecretAction in
            switch kind {
            case 1:
                let stored = try Stored(from: &reader)
                return .store(stored.item, replaces: stored.replaces)
            case 2:
                let search = try Search(from: &reader)
                return .search(collection: search.collection, search.pairs)
            case 3: return .read(try reader.value(.names))
            case 4:
                let changed = try Changed(from: &reader)
                return .change(changed.item, changed.changes)
            case 5: return .delete(try reader.value(.name))
            case 6: return try reader.noFields(.collections)
            case 7: return .createCollection(label: try reader.value(.label))
            case 8:
                let named = try Named(from: &reader)
                return .renameCollection(named.collection, label: named.label)
            case 9: return .deleteCollection(try reader.value(.name))
            case 10: return try reader.noFields(.answers)
            case 11:
                let answer = try Answer(from: &reader)
                return .forgetAnswer(item: answer.item, answer: answer.answer)
            case 12:
                let protected = try Protected(from: &reader)
                return .protectNew(collection: protected.name, protected.control)
            case 13: return try reader.noFields(.everyItem)
            case 14: return try reader.noFields(.unlock)
            case 15:
                let protected = try Protected(from: &reader)
                return .protectItem(protected.name, protected.control)
            default: throw .invalidValue
            }
        }
    }

    private struct Stored: WireTuple, WireValue {
        var item: NewSecret
        var replaces: Bool
        static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
            Self(item: try tuple.field(0, \.item), replaces: try tuple.field(1, \.replaces))
        }
    }

    private struct Search: WireMap {
        var collection: String?
        var pairs: SecretPairs
        static var refusesUnknownFields: Bool { true }
        static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
            Self(collection: try map.optional(0, \.collection, .name), pairs: try map.field(1, \.pairs))
        }
    }

    private struct Changed: WireTuple, WireValue {
        var item: String
        var changes: SecretChanges
        static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
            Self(item: try tuple.field(0, \.item, .name), changes: try tuple.field(1, \.changes))
        }
    }

    private struct Named: WireTuple, WireValue {
        var collection: String
        var label: String
        static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
            Self(collection: try tuple.field(0, \.collection, .name), label: try tuple.field(1, \.label, .label))
        }
    }

    private struct Protected: WireTuple, WireValue {
        /// The identifier of a collection or an item.
        var name: String
        var control: AccessControl
        static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
            Self(name: try tuple.field(0, \.name, .name), control: try tuple.field(1, \.control))
        }
    }

    private struct Answer: WireTuple, WireValue {
        var item: String
        var answer: String
        static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
            Self(item: try tuple.field(0, \.item, .name), answer: try tuple.field(1, \.answer, .name))
        }
    }
}

extension NewSecret: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            collection: try map.field(0, \.collection, .name),
            label: try map.field(1, \.label, .label),
            contentType: try map.field(2, \.contentType, .name),
            pairs: try map.field(3, \.pairs),
            secret: try map.field(4, \.secret, .secret()))
    }
}

extension SecretChanges: WireMap {
    package static var refusesUnknownFields: Bool { true }
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            label: try map.optional(0, \.label, .label),
            pairs: try map.optional(1, \.pairs),
            contentType: try map.optional(2, \.contentType, .name),
            secret: try map.optional(3, \.secret, .secret()))
    }
}

/// An array of names and values in turn, in the order of the bytes of the names: one set of pairs has one encoding.
extension SecretPairs: WireValue {
    package func write(to writer: inout CBORWriter) {
        writer.array(2 * all.count)
        for pair in all {
            writer.text(pair.name)
            writer.text(pair.value)
        }
    }

    package init(from reader: inout CBORReader) throws(WireError) {
        var texts: [String] = []
        try reader.array(limit: 2 * Limits.secretPairs) { (reader) throws(WireError) in
            texts.append(try reader.text(limit: Limits.secretPairBytes))
        }
        guard texts.count.isMultiple(of: 2) else { throw .invalidValue }
        let pairs = stride(from: 0, to: texts.count, by: 2).map { Pair(texts[$0], texts[$0 + 1]) }
        guard let sorted = SecretPairs(pairs) else { throw .invalidValue }
        guard sorted.all == pairs else { throw .notCanonical }
        self = sorted
    }
}

extension SecretPairs {
    /// The pairs as an attribute of an item contains them.
    package var bytes: [UInt8] {
        var writer = CBORWriter()
        write(to: &writer)
        return writer.finishBytes()
    }

    /// Decodes `bytes`; nil for bytes in any other form.
    package init?(_ bytes: [UInt8]) {
        let pairs = bytes.withUnsafeBytes { buffer -> SecretPairs? in
            do throws(WireError) {
                var reader = CBORReader(buffer)
                let pairs = try SecretPairs(from: &reader)
                try reader.finish()
                return pairs
            } catch {
                return nil
            }
        }
        guard let pairs else { return nil }
        self = pairs
    }
}

extension WireShape where Self == TextShape {
    fileprivate static var name: Self { .text(limit: Limits.secretNameBytes) }
    fileprivate static var label: Self { .text(limit: Limits.titleBytes) }
}

extension WireShape where Self == ListShape<TextShape> {
    fileprivate static var names: Self { .list(of: .name, limit: Limits.secretsRead) }
}
