// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import LatchkeyModel

/// The report of a migration as text and as JSON, before and after it.
struct MigrationText {
    private let report: MigrationReport
    private let isDone: Bool

    init(_ report: MigrationReport, isDone: Bool) { (self.report, self.isDone) = (report, isDone) }

    /// The output for a user without a store to move.
    static func nothing(_ store: OwnStore, isJSON: Bool) -> String {
        guard !isJSON else { return JSON.object([("store", .boolean(false)), ("moved", .number(0))]).line + "\n" }
        let rest = localized("Its items were moved earlier. Delete what remains with: latchkey migrate --discard")
        return localized("There is no store to move.") + "\n" + (store.wasMoved ? rest + "\n" : "")
    }

    var text: String {
        var text =
            (isDone
                ? localized("The store was moved to the system's keychain.")
                : localized("A move to the system's keychain:")) + "\n"
        let meanings = [
            ("moved", report.moved, localized("their use needs no proof")),
            (
                "re-wrapped", report.rewrapped,
                localized("their use needs a proof; sealed under keys of the system's keychain")
            ),
            ("present", report.present, localized("already there")),
            ("kept", report.remaining.count, localized("stay in your own store; programs do not find them")),
            ("lost", report.lost.count, localized("cannot be used in either")),
        ]
        text += Table.text(meanings.map { ["  " + $0.0, "\($0.1)", $0.2] })
        text += list(localized("Replaced an older item:"), report.replaced)
        text += list(localized("Kept:"), report.remaining) + list(localized("Lost:"), report.lost)
        let groups = report.groups.filter { $0.group != $0.target }
        if !groups.isEmpty {
            text += localized("Access groups:") + "\n"
            text += Table.text(groups.map { ["  " + $0.group, "->", $0.target, Self.count($0.count)] })
        }
        guard isDone else { return text }
        return text
            + localized(
                """
                Connected programs use the system's keychain with their next connection.
                When everything is there, delete the old store with: latchkey migrate --discard
                """) + "\n"
    }

    private func list(_ title: String, _ items: SkippedItems) -> String {
        guard items.count > 0 else { return "" }
        return title + "\n" + SkippedItems.lines(items.named, of: items.count)
    }

    private static func count(_ count: UInt64) -> String {
        localized.count(Int(clamping: count), "\(count) item", "\(count) items")
    }

    var json: String {
        func items(_ items: SkippedItems) -> JSON { .array(items.named.map(\.json)) }
        func number(_ count: UInt64) -> JSON { .number(Int64(clamping: count)) }
        let groups = report.groups.map { group in
            JSON.object([
                ("from", .text(group.group)), ("to", .text(group.target)), ("items", number(group.count)),
            ])
        }
        return JSON.object([
            ("store", .boolean(true)), ("done", .boolean(isDone)), ("moved", number(report.moved)),
            ("rewrapped", number(report.rewrapped)), ("present", number(report.present)),
            ("replaced", number(report.replaced.count)), ("kept", number(report.remaining.count)),
            ("lost", number(report.lost.count)), ("replacedItems", items(report.replaced)),
            ("keptItems", items(report.remaining)), ("lostItems", items(report.lost)), ("groups", .array(groups)),
        ]).line + "\n"
    }
}
