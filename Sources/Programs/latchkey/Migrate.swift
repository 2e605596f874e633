// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// migrate: moves the items of the user's own store to the system's keychain. The daemon of the own store sends them;
/// this command connects the two daemons with a ticket, and shows what happened.
enum Migrate {
    private static let own = DaemonConnection(
        Client(ofOwnStoreFor: Client.applicationName, groups: Client.declaredNames))
    private static let system = DaemonConnection(Client(ofSystemFor: Client.applicationName))

    static func run(_ options: Options) throws(CommandFailure) {
        let store = try failing { () throws(Failure) in try OwnStore() }
        if options.has(.discard) { return try discard(store, options) }
        guard store.isInUse else { return Output.write(MigrationText.nothing(store, isJSON: options.isJSON)) }
        let (report, receiving) = try failing { () throws(Failure) in
            let receiving = try checkBoth()
            return (try expected(), receiving)
        }
        let expectation = MigrationText(report, isDone: false)
        if options.has(.dryRun) { return Output.write(options.isJSON ? expectation.json : expectation.text) }
        if !options.isJSON { Output.write(expectation.text) }
        try confirm(report)
        let ticket = try failing { () throws(Failure) in
            if !receiving.isPasscodeSet { try system.call(Request.PasscodeChange.setAtPrompt) }
            // As long as the own store is in use, `latchkey unlock` unlocks that one.
            if receiving.isLocked { try system.call(Request.Unlock(Prompting())) }
            return try system.call(Request.BeginMigration())
        }
        let result = MigrationText(try move(ticket, options), isDone: true)
        Output.write(options.isJSON ? result.json : result.text)
    }

    /// Moves the items. Only the system's keychain can tell which of them it would not take, and only after the
    /// passcode; so the user is asked again if there are any.
    private static func move(_ ticket: SecretBytes, _ options: Options) throws(CommandFailure) -> MigrationReport {
        switch try failing({ () throws(Failure) in try send(ticket, asksIfItemsRemain: true) }) {
        case .moved(let report): return report
        case .wouldLeaveItems(let report):
            if !options.isJSON { Output.write(MigrationText(report, isDone: false).text) }
            try confirm(report)
        }
        guard
            case .moved(let report) = try failing({ () throws(Failure) in
                try send(ticket, asksIfItemsRemain: false)
            })
        else { throw .failure(.unexpectedReply) }
        return report
    }

    private static func send(_ ticket: SecretBytes, asksIfItemsRemain: Bool) throws(Failure) -> MigrationOutcome {
        do throws(Failure) {
            return try own.call(Request.Migrate(ticket: ticket, asksIfItemsRemain: asksIfItemsRemain))
        } catch {
            guard try OwnStore().wasMoved else { throw error }
            throw Failure(
                error.status, "The store was moved, but its daemon ended before it sent the report.",
                hint: "List the items with: latchkey list", cause: error)
        }
    }

    /// Checks both daemons before anything is asked.
    ///
    /// - Returns: the status of the system's keychain.
    private static func checkBoth() throws(Failure) -> StatusReport {
        let receiving = try system.status()
        if let problem = receiving.problem { throw problem }
        let sending = try own.status()
        guard sending.tier == .user else {
            throw Failure(
                .notPermitted, "The store in \(sending.storePath) has tier \(sending.tier.name) and cannot be moved.",
                hint: "Only a store of tier user can be moved.")
        }
        if let problem = sending.problem { throw problem }
        return receiving
    }

    /// What a move would do, with the groups that the system's keychain would give the items.
    private static func expected() throws(Failure) -> MigrationReport {
        guard case .moved(var report) = try own.call(Request.Migrate(ticket: nil)),
            case let targets = try system.call(Request.MapGroups(report.groups.map(\.group))),
            targets.count == report.groups.count
        else { throw .unexpectedReply }
        try checkLimits(report)
        for (index, target) in targets.enumerated() { report.groups[index].target = target }
        return report
    }

    /// Throws if the system's keychain would refuse the items for their number, before a passcode is asked for.
    private static func checkLimits(_ report: MigrationReport) throws(Failure) {
        let count = report.moved + report.rewrapped
        // The report lists no more groups than a move may have, so the items of further groups are in none of them.
        guard count <= UInt64(Limits.migratedItems), report.groups.reduce(0, { $0 + $1.count }) == count else {
            throw Failure(
                .limitExceeded,
                "A move has at most \(Limits.migratedItems) items and \(Limits.migratedGroups) access groups.",
                hint: "Delete items that are not needed from your own store, then run latchkey migrate again.")
        }
    }

    private static func confirm(_ report: MigrationReport) throws(CommandFailure) {
        guard report.remaining.count + report.lost.count > 0 else { return }
        try Confirmation.ask("move", localized("Programs will not find the items that are kept or lost.") + "\n")
    }

    /// Deletes what remains of a store that was moved.
    private static func discard(_ store: OwnStore, _ options: Options) throws(CommandFailure) {
        let removal = try failing { () throws(Failure) in try store.removal() }
        try Confirmation.ask(
            "discard",
            localized(
                """
                This deletes \(store.folder) with everything in it: the items that were kept, and the audit log.
                It cannot be undone.

                """))
        try failing { () throws(Failure) in try removal.remove(erasing: OwnStore.secrets) }
        Output.write(
            options.isJSON
                ? JSON.object([("discarded", .boolean(true))]).line + "\n"
                : localized("\(store.folder) was deleted.") + "\n")
    }
}
