// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams

// Export and import of the keychain. The user authorises each of them at a prompt of the daemon, with the passcode if
// one is required; proofs of contexts are not used. The caller transfers encrypted bytes.

extension Session {
    // MARK: - Beginning and ending

    /// Requests the user's authorisation for an export or import, and begins it.
    ///
    /// - Parameters:
    ///   - event: recorded in the audit log before the first byte is sent or accepted.
    ///   - begin: creates the state of the export or import. It stretches the recovery code, so it runs on the stretch
    ///     queue in the program's turn.
    ///   - first: handles the first bytes, on the write queue when the event is recorded.
    private func beginBackup(
        _ call: Call, for purpose: PromptPurpose, _ step: LastStep, showing shown: SecretBytes? = nil,
        _ event: AuditEvent,
        begin: @escaping @Sendable (_ code: SecretBytes?) throws(Failure) -> BackupSession.Work,
        first: @escaping @Sendable (BackupSession) throws(Failure) -> Reply
    ) async throws(Failure) -> Reply {
        let (keychain, caller) = (try keychain(), caller)
        let needsPasscode = try keychain.backupNeedsPasscode(caller)
        let lease = try service.backups.lease()
        try state.withLock { (state) throws(Failure) in
            guard state.backup == nil, !state.isBeginningBackup else {
                throw Failure(
                    .limitExceeded, "An export or import is under way on this connection.",
                    hint: "End it, or use another connection.")
            }
            state.isBeginningBackup = true
        }
        defer { state.withLock { $0.isBeginningBackup = false } }
        // Without a passcode the user cannot authenticate; the prompt of the last step still names the caller.
        let plan = AuthenticationPlan(needsPasscode ? [[.passcode]] : [])
        let agreement = try await ask(call, Question(plan: plan, purpose: purpose, lastStep: step, recoveryCode: shown))
        let work = try await stretch { () throws(Failure) in try begin(agreement.text) }
        let session = BackupSession(proof: agreement.proof, epoch: agreement.askedIn, lease: lease, work: work)
        return try await write(under: agreement) { () throws(Failure) in
            try keychain.record(event, caller: caller)
            return try first(session)
        }
    }

    /// Removes and returns the export or import with that cursor, so that each cursor is accepted once.
    private func takeBackup(_ cursor: [UInt8]) throws(Failure) -> BackupSession {
        let now = service.parts.clock.uptime
        let session: BackupSession? = state.withLock { state in
            guard let session = state.backup, session.cursor == cursor else { return nil }
            state.backup = nil
            return session.epoch == state.proofEpoch && now < session.deadline ? session : nil
        }
        guard let session else {
            throw Failure(
                .invalidContext, "No export or import of this connection has that cursor.",
                hint: "Begin again. A lock, ten minutes without a request, or a failure ends an export or import.")
        }
        return session
    }

    /// Stores the state of an export or import for its next request.
    ///
    /// - Returns: its new cursor.
    private func storeBackup(_ session: BackupSession) throws(Failure) -> [UInt8] {
        var session = session
        session.cursor = try service.parts.random.bytes(16).copyBytes()
        session.deadline = service.parts.clock.uptime + Limits.backupIdleSeconds * 1_000_000_000
        let (cursor, stored) = (session.cursor, session)
        let isStored = state.withLock { state in
            guard !state.isClosed, state.backup == nil, stored.epoch == state.proofEpoch else { return false }
            state.backup = stored
            return true
        }
        guard isStored else { throw Refusal.failure(.systemCancel, nil) }
        let alarm = service.parts.clock.alarm(after: Limits.backupIdleSeconds) { [weak self] in
            self?.state.withLock { if $0.backup?.cursor == cursor { $0.backup = nil } }
        }
        state.withLock { if $0.backup?.cursor == cursor { $0.backup?.alarm = alarm } }
        return cursor
    }

    // MARK: - Export

    func export(_ request: Request.ExportItems, _ call: Call) async throws(Failure) -> Reply {
        if let cursor = request.cursor {
            let session = try takeBackup(cursor)
            return try await service.parts.background.run { [self] () throws(Failure) in try exportPage(session) }
        }
        let code = try RecoveryCode.make()
        return try await beginBackup(call, for: .exportItems, .showsRecoveryCode, showing: code.grouped, .exported) {
            (_) throws(Failure) in
            let header = try BackupHeader.make()
            return .export(BackupSession.Export(writer: try BackupWriter(header, code), waiting: header.bytes))
        } first: { [self] (session) throws(Failure) in
            try exportPage(session)
        }
    }

    /// Returns the next bytes of the backup. Records of items are created whole and cut where a frame is full.
    private func exportPage(_ start: BackupSession) throws(Failure) -> Reply {
        var session = start
        guard case .export(var export) = start.work else {
            throw Failure(.invalidContext, "The cursor belongs to an import.")
        }
        var skipped = SkippedItems()
        if export.waiting.count < Limits.exportedBytes, let position = export.position {
            let page = try keychain().page(after: position, caller: caller, proof: session.proof)
            skipped = page.skipped
            for item in page.items {
                guard let record = try export.writer.record(item) else {
                    skipped.add(SkippedItem(item.itemClass, item.attributes, .tooLarge))
                    continue
                }
                export.waiting += record
                export.count += 1
            }
            export.position = page.next
            if page.next == nil { export.waiting += try export.writer.end() }
        }
        let bytes = Array(export.waiting.prefix(Limits.exportedBytes))
        export.waiting.removeFirst(bytes.count)
        session.work = .export(export)
        let isWhole = export.position == nil && export.waiting.isEmpty
        let cursor = isWhole ? nil : try storeBackup(session)
        return .exported(Reply.Exported(bytes: bytes, count: export.count, skipped: skipped, cursor: cursor))
    }

    // MARK: - Import

    func restore(_ request: Request.ImportItems, _ call: Call) async throws(Failure) -> Reply {
        if let cursor = request.cursor {
            let session = try takeBackup(cursor)
            return try await service.parts.work.run { [self] () throws(Failure) in try importPart(session, request) }
        }
        let header = try BackupHeader(Array(request.bytes.prefix(BackupHeader.byteCount)))
        return try await beginBackup(call, for: .importItems, .asksRecoveryCode, .imported) { (typed) throws(Failure) in
            guard let typed, let code = RecoveryCode(typed: typed) else {
                throw Failure(
                    .itemAuthenticationFailed, "The text that was entered is not a recovery code.",
                    hint: "A recovery code has 26 characters; check each of them.")
            }
            let reader = try BackupReader(header, code)
            return .import(BackupSession.Import(file: BackupImport(header, reader)))
        } first: { [self] (session) throws(Failure) in
            try importPart(session, request)
        }
    }

    /// Verifies the next bytes of the backup or, when the whole backup was verified, adds the items in them.
    private func importPart(_ start: BackupSession, _ request: Request.ImportItems) throws(Failure) -> Reply {
        var session = start
        guard case .import(var part) = start.work else {
            throw Failure(.invalidContext, "The cursor belongs to an export.")
        }
        let keychain = try keychain()
        var skipped = SkippedItems()
        var (added, present) = (part.added, part.present)
        let progress = try part.file.feed(request.bytes, isLast: request.isLast) { (item) throws(Failure) in
            switch try keychain.restore(item, caller: caller, proof: session.proof) {
            case .added: added += 1
            case .present: present += 1
            case .skipped(let reason): skipped.add(SkippedItem(item.itemClass, item.attributes, reason))
            }
        }
        (part.added, part.present) = (added, present)
        session.work = .import(part)
        let cursor = progress == .finished ? nil : try storeBackup(session)
        return .imported(
            Reply.Imported(
                wantsStart: progress == .wantsStart, added: part.added, present: part.present, skipped: skipped,
                cursor: cursor))
    }
}
