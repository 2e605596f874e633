// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

private let cursorBytes = 16

extension Request.ExportItems: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(cursor: try map.optional(0, \.cursor, .bytes(count: cursorBytes)))
    }
}

extension Request.ImportItems: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            cursor: try map.optional(0, \.cursor, .bytes(count: cursorBytes)),
            bytes: try map.field(1, \.bytes, .bytes(limit: Limits.importedBytes)),
            isLast: try map.field(2, \.isLast))
    }
}

extension Reply.Exported: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            bytes: try map.field(0, \.bytes, .bytes(limit: Limits.exportedBytes)),
            count: try map.field(1, \.count),
            skipped: try map.field(2, \.skipped),
            cursor: try map.optional(3, \.cursor, .bytes(count: cursorBytes)))
    }
}

extension Reply.Imported: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            wantsStart: try map.field(0, \.wantsStart),
            added: try map.field(1, \.added),
            present: try map.field(2, \.present),
            skipped: try map.field(3, \.skipped),
            cursor: try map.optional(4, \.cursor, .bytes(count: cursorBytes)))
    }
}

extension Reply.Recovered: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(accepted: try map.optional(0, \.accepted), lost: try map.field(1, \.lost))
    }
}

extension SkippedItems: WireTuple, WireValue {
    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        let count = try tuple.field(0, \.count)
        return Self(named: try tuple.field(1, \.named, .list(limit: Limits.skippedItems)), count: count)
    }
}

extension SkippedItem: WireTuple, WireValue {
    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            itemClass: try tuple.field(0, \.itemClass),
            group: try tuple.field(1, \.group, .skippedText),
            account: try tuple.field(2, \.account, .skippedText),
            service: try tuple.field(3, \.service, .skippedText),
            label: try tuple.field(4, \.label, .skippedText),
            reason: try tuple.field(5, \.reason))
    }
}

extension WireShape where Self == TextShape {
    fileprivate static var skippedText: TextShape { .text(limit: 4 * Limits.skippedCharacters) }
}
