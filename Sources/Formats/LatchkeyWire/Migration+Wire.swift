// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension Request.ReceiveItems: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            ticket: try map.field(0, \.ticket, .ticket),
            items: try map.field(1, \.items, .list(limit: Limits.migratedPageItems)),
            isLast: try map.field(2, \.isLast),
            asksIfItemsRemain: try map.field(3, \.asksIfItemsRemain, omitting: false))
    }
}

extension Request.Migrate: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            ticket: try map.optional(0, \.ticket, .ticket),
            asksIfItemsRemain: try map.field(1, \.asksIfItemsRemain, omitting: false))
    }
}

extension Request.MapGroups: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(try map.field(0, \.groups, .groupNames))
    }
}

extension MigrationReport: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            moved: try map.field(0, \.moved),
            rewrapped: try map.field(1, \.rewrapped),
            present: try map.field(2, \.present),
            replaced: try map.field(3, \.replaced),
            remaining: try map.field(4, \.remaining),
            lost: try map.field(5, \.lost),
            groups: try map.field(6, \.groups, .list(limit: Limits.migratedGroups)))
    }
}

extension MigratedGroup: WireTuple, WireValue {
    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            group: try tuple.field(0, \.group, .text(limit: Limits.applicationBytes)),
            target: try tuple.field(1, \.target, .text(limit: Limits.applicationBytes)),
            count: try tuple.field(2, \.count))
    }
}

/// The random bytes of a ticket. They are secret: they stand for the passcode that the user entered.
struct TicketShape: WireShape {
    func write(_ value: SecretBytes, to writer: inout CBORWriter) { writer.bytes(value) }

    func read(from reader: inout CBORReader) throws(WireError) -> SecretBytes {
        let ticket = try reader.secret(limit: Limits.ticketBytes)
        guard ticket.count == Limits.ticketBytes else { throw .invalidValue }
        return ticket
    }
}

extension WireShape where Self == TicketShape {
    static var ticket: TicketShape { TicketShape() }
}

extension WireShape where Self == ListShape<TextShape> {
    /// Access groups of a store; those of tier `user` have the limit of an attribute only.
    static var groupNames: Self {
        .list(of: .text(limit: Limits.applicationBytes), limit: Limits.migratedGroups)
    }
}
