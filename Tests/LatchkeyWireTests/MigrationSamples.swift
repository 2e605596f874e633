// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension Sample {
    private static let ticket = SecretBytes(handle.bytes)

    private static var item: FoundItem {
        FoundItem(
            itemClass: .genericPassword,
            attributes: [.service: .text("mail"), .account: .text("ada"), .accessGroup: .text("notes")],
            accessControl: AccessControl(accessibility: .whenUnlocked, constraints: []),
            secret: SecretBytes("pw".utf8))
    }

    private static func skipped(_ reason: SkipReason) -> SkippedItems {
        var items = SkippedItems()
        items.add(
            SkippedItem(
                itemClass: .genericPassword, group: "notes", account: "ada", service: "mail", label: "", reason: reason)
        )
        return items
    }

    /// The messages of a migration.
    static let migration = [
        Sample("begin-migration", .beginMigration),
        Sample(
            "receive-items", .receiveItems(Request.ReceiveItems(ticket: ticket, items: [item], isLast: false))),
        Sample("receive-items-last", .receiveItems(Request.ReceiveItems(ticket: ticket, items: [], isLast: true))),
        Sample(
            "receive-items-asking",
            .receiveItems(Request.ReceiveItems(ticket: ticket, items: [], isLast: true, asksIfItemsRemain: true))),
        Sample("map-groups", .mapGroups(["notes", "team.shared"])),
        Sample("migrate-report", .migrate(Request.Migrate(ticket: nil))),
        Sample("migrate", .migrate(Request.Migrate(ticket: ticket))),
        Sample("migrate-asking", .migrate(Request.Migrate(ticket: ticket, asksIfItemsRemain: true))),
        Sample("migration-would-keep-nothing", .migrationWouldLeaveItems(MigrationReport())),
        Sample("ticket", .ticket(ticket)),
        Sample("groups", .groups(["/usr/bin/notes", "user:1000"])),
        Sample("migrated-nothing", .migrated(MigrationReport())),
        Sample(
            "migrated",
            .migrated(
                MigrationReport(
                    moved: 2, rewrapped: 1, present: 3, replaced: skipped(.olderThere), remaining: skipped(.newerThere),
                    lost: skipped(.unreadable),
                    groups: [MigratedGroup(group: "notes", target: "/usr/bin/notes", count: 6)]))),
    ]
}
