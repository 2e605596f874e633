// SPDX-License-Identifier: Apache-2.0

// `latchkey migrate`: moves the items of a user's own store to the system's keychain (docs/use/moving.md).

extension Request {
    /// Asks the user of the system's keychain to allow a migration; the reply is a ticket.
    package struct BeginMigration: BareRequest {
        package typealias Response = SecretBytes
        package static var operation: Operation { .beginMigration }
        package var traits: RequestTraits { .asks }
        package static func response(_ reply: Reply) -> SecretBytes? {
            if case .ticket(let ticket) = reply { ticket } else { nil }
        }

        package init() {}
    }

    /// The next items of a migration. The system's keychain adds the items of all requests in one transaction, after
    /// the last one.
    package struct ReceiveItems: ClientRequest {
        package typealias Response = MigrationOutcome?
        package static var operation: Operation { .receiveItems }
        package var traits: RequestTraits { [] }

        /// The ticket of the migration, in each of its requests.
        package var ticket: SecretBytes
        /// Items with attributes, access control and secret.
        package var items: [FoundItem]
        /// Whether no further items follow.
        package var isLast: Bool
        /// Whether to add nothing if an item of the migration would remain. The reply is then
        /// `migrationWouldLeaveItems`, and the ticket can be used again. Matters with `isLast` only.
        package var asksIfItemsRemain: Bool
        package init(ticket: SecretBytes, items: [FoundItem], isLast: Bool, asksIfItemsRemain: Bool = false) {
            (self.ticket, self.items, self.isLast, self.asksIfItemsRemain) = (ticket, items, isLast, asksIfItemsRemain)
        }
    }

    /// Returns the access groups that items of these groups get in the system's keychain.
    package struct MapGroups: ClientRequest {
        package typealias Response = [String]
        package static var operation: Operation { .mapGroups }
        package var traits: RequestTraits { .mayBeRepeated }
        package static func response(_ reply: Reply) -> [String]? {
            if case .groups(let groups) = reply { groups } else { nil }
        }

        package var groups: [String]
        package init(_ groups: [String]) { self.groups = groups }
    }

    /// Moves the items of the user's own store to the system's keychain, or reports what would happen.
    package struct Migrate: ClientRequest {
        package typealias Response = MigrationOutcome
        package static var operation: Operation { .migrate }
        package var traits: RequestTraits { ticket == nil ? .mayTakeLong : .asks }
        package static func response(_ reply: Reply) -> MigrationOutcome? { ReceiveItems.response(reply) ?? nil }

        /// The ticket of the system's keychain; nil to report what would happen, without any change.
        package var ticket: SecretBytes?
        /// Whether to move nothing if the system's keychain would leave an item in the own store.
        package var asksIfItemsRemain: Bool
        package init(ticket: SecretBytes?, asksIfItemsRemain: Bool = false) {
            (self.ticket, self.asksIfItemsRemain) = (ticket, asksIfItemsRemain)
        }
    }
}

/// The end of a migration.
package enum MigrationOutcome: Equatable, Sendable {
    case moved(MigrationReport)
    /// Nothing was added, because an item would remain, and the request asks before that.
    case wouldLeaveItems(MigrationReport)
}

/// The items of a migration by what happens to them.
package struct MigrationReport: Equatable, Sendable {
    /// Added to the system's keychain; using them needs no proof.
    package var moved: UInt64 = 0
    /// Added to the system's keychain; their secrets are sealed under keys of it that need a proof.
    package var rewrapped: UInt64 = 0
    /// Already in the system's keychain with the same contents.
    package var present: UInt64 = 0
    /// Those of `moved` and `rewrapped` that replaced an older item.
    package var replaced = SkippedItems()
    /// Left in the user's own store, where they remain usable.
    package var remaining = SkippedItems()
    /// Unusable in either store.
    package var lost = SkippedItems()
    /// The access groups of the moved items, at most `Limits.migratedGroups`.
    package var groups: [MigratedGroup] = []

    package init() {}

    package init(
        moved: UInt64, rewrapped: UInt64, present: UInt64, replaced: SkippedItems, remaining: SkippedItems,
        lost: SkippedItems, groups: [MigratedGroup]
    ) {
        self.moved = moved
        self.rewrapped = rewrapped
        self.present = present
        self.replaced = replaced
        self.remaining = remaining
        self.lost = lost
        self.groups = groups
    }

    package mutating func add(_ accessControl: AccessControl) {
        if accessControl.needsProof { rewrapped += 1 } else { moved += 1 }
    }

    /// Counts an item of a group.
    ///
    /// - Parameter target: the group in the system's keychain; empty if it is not known.
    package mutating func add(group: String, as target: String) {
        if let index = groups.firstIndex(where: { $0.group.hasBytes(of: group) }) {
            groups[index].count += 1
        } else if groups.count < Limits.migratedGroups {
            groups.append(MigratedGroup(group: group, target: target, count: 1))
        }
    }
}

/// An access group of a user's own store.
package struct MigratedGroup: Equatable, Sendable {
    package var group: String
    /// The access group in the system's keychain; empty if it is not known.
    package var target: String
    /// Number of its items that are added or present.
    package var count: UInt64
    package init(group: String, target: String, count: UInt64) {
        (self.group, self.target, self.count) = (group, target, count)
    }
}

extension AccessControl {
    /// Whether the secret of an item is sealed under a key that is available only after a proof, or is released only
    /// with one.
    package var needsProof: Bool { isProtected || accessibility == .whenPasscodeSetThisDeviceOnly }
}
