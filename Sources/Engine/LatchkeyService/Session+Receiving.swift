// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams

// The system's keychain receives the items of a user's own store. The user authorises it at a prompt on the connection
// of the command; the items arrive on the connection of the own store's daemon, which presents the ticket.

extension Session {
    // MARK: - The command

    /// Asks for the passcode, and replies with a ticket for the daemon of the user's own store.
    func beginMigration(_ call: Call) async throws(Failure) -> Reply {
        try checkReceives()
        let keychain = try keychain()
        guard keychain.isPasscodeSet else {
            throw Failure(
                .passcodeNotSet,
                "The system's keychain has no passcode, so items that need a proof could be added, but not used.",
                hint: "Run latchkey migrate, which asks for a new one.")
        }
        // The same conditions as for an export: the store can be read and is not locked.
        _ = try keychain.backupNeedsPasscode(caller)
        let lease = try service.backups.lease()
        let agreement = try await ask(call, Question(plan: AuthenticationPlan([[.passcode]]), purpose: .receiveItems))
        return .ticket(
            try await service.parts.work.run { [self] () throws(Failure) in
                try issueTicket(agreement, lease, keychain)
            })
    }

    private func issueTicket(
        _ agreement: Agreement, _ lease: BackupLease, _ keychain: Keychain
    ) throws(Failure) -> SecretBytes {
        try keychain.record(.migrationAllowed, caller: caller)
        let secret = try service.parts.random.bytes(Limits.ticketBytes)
        let clock = service.parts.clock
        let ticket = MigrationTicket(
            secret: secret, caller: caller, proof: agreement.proof,
            deadline: clock.uptime + Limits.ticketSeconds * 1_000_000_000, lease: lease)
        let isIssued = state.withLock { state in
            guard !state.isClosed, state.proofEpoch == agreement.askedIn else { return false }
            service.tickets.add(ticket, of: self)
            state.ticketAlarm = clock.alarm(after: Limits.ticketSeconds) { [service] in
                service.tickets.expire(now: service.parts.clock.uptime)
            }
            return true
        }
        guard isIssued else { throw Refusal.failure(.systemCancel, nil) }
        return secret
    }

    /// Replies with the access groups that items of these groups get here. The reply depends on files that every user
    /// may read.
    func mapGroups(_ groups: [String]) async throws(Failure) -> Reply {
        try checkReceives()
        return .groups(
            try await service.parts.background.run { [service] () throws(Failure) in
                var targets: [String] = []
                for group in groups { targets.append(try service.parts.mapGroup(group)) }
                return targets
            })
    }

    private func checkReceives() throws(Failure) {
        switch service.parts.tier {
        case .file, .tpm: return
        case .user, .simulated:
            throw Failure(.notPermitted, "Only the system's keychain receives the items of another store.")
        }
    }

    // MARK: - The daemon of the own store

    /// Stores the next items, and adds all of them after the last ones. Each refusal, and each migration that asked
    /// first and added nothing, is in the audit log: its reply reveals something about the items here.
    func receive(_ request: Request.ReceiveItems) async throws(Failure) -> Reply {
        try checkReceives()
        do throws(Failure) {
            return try await accept(request)
        } catch {
            await recordRefusal(error.reason ?? RefusalReason(error.status))
            throw error
        }
    }

    private func accept(_ request: Request.ReceiveItems) async throws(Failure) -> Reply {
        var migration = try continuedMigration(request.ticket)
        try migration.items.add(request.items)
        guard migration.items.count <= Limits.migratedItems, migration.items.weight <= Limits.migratedBytes else {
            throw Failure(
                .limitExceeded,
                "A migration has at most \(Limits.migratedItems) items and \(Limits.migratedBytes >> 20) MiB.",
                hint: "Delete items that are not needed from the own store, then run latchkey migrate again.")
        }
        guard request.isLast else {
            try storeMigration(migration)
            return .done
        }
        let whole = migration
        return try await service.parts.work.run { [self] () throws(Failure) in
            guard whole.epoch == proofEpoch else { throw Refusal.failure(.systemCancel, nil) }
            let received = try keychain().receive(
                whole.items, caller: whole.ticket.caller, proof: whole.ticket.proof,
                asksIfItemsRemain: request.asksIfItemsRemain, map: service.parts.mapGroup)
            guard received.areAdded else {
                try keychain().recordRefusal(of: caller, .other)
                service.tickets.giveBack(whole.ticket)
                return .migrationWouldLeaveItems(received.report)
            }
            return .migrated(received.report)
        }
    }

    /// Removes and returns the migration of this connection, or begins one with an unused ticket. After a failure the
    /// migration has ended.
    private func continuedMigration(_ secret: SecretBytes) throws(Failure) -> ReceivedMigration {
        let now = service.parts.clock.uptime
        let (stored, epoch) = state.withLock { state in
            defer { state.receiving = nil }
            return (state.receiving, state.proofEpoch)
        }
        if let stored, stored.ticket.secret == secret, stored.epoch == epoch, now < stored.deadline,
            now < stored.ticket.deadline
        {
            return stored
        }
        if stored == nil, let ticket = service.tickets.take(secret, now: now) {
            return ReceivedMigration(ticket: ticket, epoch: epoch, items: try HeldItems(service.parts.random))
        }
        throw Failure(
            .invalidContext, "The system's keychain has not allowed this migration, or no longer allows it.",
            hint: "Run latchkey migrate again. A lock, a pause or a failure ends a migration, and nothing was added.")
    }

    private func storeMigration(_ migration: ReceivedMigration) throws(Failure) {
        var migration = migration
        let clock = service.parts.clock
        migration.deadline = clock.uptime + Limits.migrationIdleSeconds * 1_000_000_000
        let deadline = migration.deadline
        migration.alarm = clock.alarm(after: Limits.migrationIdleSeconds) { [weak self] in
            self?.state.withLock { if $0.receiving?.deadline == deadline { $0.receiving = nil } }
        }
        let stored = migration
        let isStored = state.withLock { state in
            guard !state.isClosed, state.receiving == nil, state.proofEpoch == stored.epoch else { return false }
            state.receiving = stored
            return true
        }
        guard isStored else { throw Refusal.failure(.systemCancel, nil) }
    }
}
