// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams

// The daemon of a user's own store hands its items to the system's keychain. The command that requests it receives
// counts and names, never a secret.

extension Session {
    /// Moves the items of this store, or reports what a move would do.
    ///
    /// The move is one piece of work of the write queue, so that no program changes the store meanwhile; reading goes
    /// on. Up to the mark of `retireStore` this store is the one in use, and the system's keychain has either none of
    /// the items or all; after the mark the system's keychain is the one in use.
    func migrate(_ request: Request.Migrate, _ call: Call) async throws(Failure) -> Reply {
        let destination = try moveDestination()
        let keychain = try keychain()
        try keychain.checkMovingAway()
        guard service.maintenance?.foundOtherRows == false else {
            throw Failure(
                .storeUnreadable, "Rows of the store were put back, changed or removed by another program.",
                hint: "See: latchkey check")
        }
        guard let ticket = request.ticket else {
            return try await service.parts.background.run { () throws(Failure) in
                .migrated(try keychain.movingReport())
            }
        }
        // Without a passcode the user cannot authenticate here; the prompt of the system's keychain has named the move.
        let epoch = proofEpoch
        var agreement = Agreement(proof: .none, askedIn: epoch, answeredIn: epoch)
        if keychain.isPasscodeSet {
            agreement = try await ask(call, Question(plan: AuthenticationPlan([[.passcode]]), purpose: .moveItemsAway))
        }
        let proof = agreement.proof
        let reply = try await write(under: agreement) { [self] () throws(Failure) in
            try moveAway(keychain, to: destination, ticket, proof, asksIfItemsRemain: request.asksIfItemsRemain)
        }
        if case .migrated = reply { state.withLock { $0.afterReply[call.id] = { destination.endProcess() } } }
        return reply
    }

    private func moveDestination() throws(Failure) -> any MoveDestination {
        switch service.parts.tier {
        case .user: break
        case .simulated:
            throw Failure(.notPermitted, "A simulated store is for tests and cannot be moved.")
        case .file, .tpm:
            throw Failure(.notPermitted, "This is the system's keychain; only a user's own store can be moved.")
        }
        guard let destination = service.parts.moveDestination else {
            throw Failure(
                .notPermitted, "This store was chosen with LATCHKEY_HOME, so it cannot be moved.",
                hint: "Start its daemon without LATCHKEY_HOME.")
        }
        return destination
    }

    /// Sends all items, has them committed, and marks this store as moved.
    ///
    /// - Returns: the reply with the report. If it is `migrationWouldLeaveItems`, nothing was added and nothing changed
    ///   here.
    private func moveAway(
        _ keychain: Keychain, to destination: any MoveDestination, _ ticket: SecretBytes, _ proof: Authorisation,
        asksIfItemsRemain: Bool
    ) throws(Failure) -> Reply {
        let connection = try destination.connect()
        var (remaining, lost) = (SkippedItems(), SkippedItems())
        var position: Int64? = BackupPage.start
        while let start = position {
            let page = try keychain.movingPage(after: start, caller: caller, proof: proof)
            remaining.add(page.report.remaining)
            lost.add(page.report.lost)
            position = page.next
            guard !page.items.isEmpty else { continue }
            let request = Request.ReceiveItems(ticket: ticket, items: page.items, isLast: false)
            guard try connection.send(request) == nil else { throw .unexpectedReply }
        }
        let last = Request.ReceiveItems(ticket: ticket, items: [], isLast: true, asksIfItemsRemain: asksIfItemsRemain)
        func whole(_ report: MigrationReport) -> MigrationReport {
            var report = report
            report.remaining.add(remaining)
            report.lost.add(lost)
            return report
        }
        let report: MigrationReport
        switch try connection.send(last) {
        case .moved(let added): report = whole(added)
        case .wouldLeaveItems(let refused) where asksIfItemsRemain: return .migrationWouldLeaveItems(whole(refused))
        case .wouldLeaveItems, nil: throw .unexpectedReply
        }
        do throws(Failure) {
            // After the mark nothing can be written to this store any more.
            try keychain.recordGatheredRefusals()
            try keychain.recordReads()
            try keychain.record(.movedAway, caller: caller)
            try destination.retireStore()
        } catch {
            throw Failure(
                error.status,
                "The system's keychain has the items, but the own store could not be marked as moved and stays in use: "
                    + "\(error.message)", hint: "Run latchkey migrate again.", cause: error)
        }
        keychain.closeAfterMove()
        return .migrated(report)
    }
}
