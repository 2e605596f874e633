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

    /// Requests the user's authorisation for an export or import.
    ///
    /// - Parameters:
    ///   - event: recorded in the audit log before the first byte is sent or accepted.
    ///   - begin: creates the state of the export or import. It stretches the recovery code, so it runs on the stretch
    ///     queue in the program's turn.
    ///   - then: runs on the write queue when the event is recorded.
    private func allowBackup(
        _ id: UInt64, for purpose: PromptPurpose, _ step: LastStep, showing shown: SecretBytes? = nil,
        _ event: AuditEvent, _ answer: @escaping Answer,
        begin: @escaping @Sendable (_ code: SecretBytes?) throws(Failure) -> BackupSession.Work,
        then: @escaping @Sendable (BackupSession) throws(Failure) -> Void
    ) throws(Failure) {
        let keychain = try keychain()
        let needsPasscode = try keychain.backupNeedsPasscode(caller)
        let lease = try service.backups.lease()
        let epoch = proofEpoch
        try state.withLock { (state) throws(Failure) in
            guard state.backup == nil, !state.isBeginningBackup else {
                throw Failure(
                    .limitExceeded, "An export or import is under way on this connection.",
                    hint: "End it, or use another connection.")
            }
            state.isBeginningBackup = true
        }
        // Without a passcode the user cannot authenticate; the prompt of the last step still names the caller.
        let plan = AuthenticationPlan(needsPasscode ? [[.passcode]] : [])
        askOwner(id, plan, for: purpose, lastStep: step, showing: shown) { [self] asked, code in
            switch asked {
            case .denied(let failure):
                notBeginning()
                refuse(failure, answer)
            case .granted(let proof):
                stretch(answer) { [self] () throws(Failure) in
                    let session = BackupSession(proof: proof, epoch: epoch, lease: lease, work: try begin(code))
                    service.parts.work.submit(.any) { [self] in open(session, event, keychain, answer, then) }
                }
            }
        }
    }

    /// Records an export or import whose key is ready, and passes it to `then`.
    private func open(
        _ session: BackupSession, _ event: AuditEvent, _ keychain: Keychain, _ answer: @escaping Answer,
        _ then: (BackupSession) throws(Failure) -> Void
    ) {
        do throws(Failure) {
            guard session.epoch == proofEpoch else { throw Refusal.failure(.systemCancel, nil) }
            try keychain.record(event, caller: caller)
            notBeginning()
            try then(session)
        } catch {
            notBeginning()
            answer(.failure(error))
        }
    }

    /// Runs `body` on the stretch queue; a failure ends the export or import.
    private func stretch(_ answer: @escaping Answer, _ body: @escaping @Sendable () throws(Failure) -> Void) {
        do throws(Failure) {
            try service.parts.stretching.submit(stretchClient) { [self] in
                // If the connection ended meanwhile, no reply is needed.
                guard !isClosed else { return notBeginning() }
                do throws(Failure) {
                    try body()
                } catch {
                    notBeginning()
                    answer(.failure(error))
                }
            }
        } catch {
            notBeginning()
            answer(.failure(error))
        }
    }

    private func notBeginning() { state.withLock { $0.isBeginningBackup = false } }

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
    private func keepBackup(_ session: BackupSession) throws(Failure) -> [UInt8] {
        var session = session
        session.cursor = try service.parts.random.bytes(16).copyBytes()
        session.deadline = service.parts.clock.uptime + Limits.backupIdleSeconds * 1_000_000_000
        let (cursor, kept) = (session.cursor, session)
        let isKept = state.withLock { state in
            guard !state.isClosed, state.backup == nil, kept.epoch == state.proofEpoch else { return false }
            state.backup = kept
            return true
        }
        guard isKept else { throw Refusal.failure(.systemCancel, nil) }
        let alarm = service.parts.clock.alarm(after: Limits.backupIdleSeconds) { [weak self] in
            self?.state.withLock { if $0.backup?.cursor == cursor { $0.backup = nil } }
        }
        state.withLock { if $0.backup?.cursor == cursor { $0.backup?.alarm = alarm } }
        return cursor
    }

    // MARK: - Export

    func export(_ id: UInt64, _ request: Request.ExportItems, _ answer: @escaping Answer) throws(Failure) {
        if let cursor = request.cursor {
            let session = try takeBackup(cursor)
            return service.parts.background.submit(.any) { [self] in
                do throws(Failure) {
                    try exportPage(session, answer)
                } catch {
                    answer(.failure(error))
                }
            }
        }
        let code = try RecoveryCode.make()
        try allowBackup(id, for: .exportItems, .showsRecoveryCode, showing: code.grouped, .exported, answer) {
            (_) throws(Failure) in
            let header = try BackupHeader.make()
            return .export(BackupSession.Export(writer: try BackupWriter(header, code), waiting: header.bytes))
        } then: { [self] (session) throws(Failure) in
            try exportPage(session, answer)
        }
    }

    /// Sends the next bytes of the backup. Records of items are created whole and cut where a frame is full.
    private func exportPage(_ start: BackupSession, _ answer: Answer) throws(Failure) {
        var session = start
        guard case .export(var export) = start.work else {
            throw Failure(.invalidContext, "The cursor belongs to an import.")
        }
        var staying = StayingItems()
        if export.waiting.count < Limits.exportedBytes, let position = export.position {
            let page = try keychain().page(after: position, caller: caller, proof: session.proof)
            staying = page.staying
            for item in page.items {
                guard let record = try export.writer.record(item) else {
                    staying.add(StayingItem(item.itemClass, item.attributes, .tooLarge))
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
        let cursor = isWhole ? nil : try keepBackup(session)
        answer(.exported(Reply.Exported(bytes: bytes, count: export.count, staying: staying, cursor: cursor)))
    }

    // MARK: - Import

    func restore(_ id: UInt64, _ request: Request.ImportItems, _ answer: @escaping Answer) throws(Failure) {
        if let cursor = request.cursor {
            let session = try takeBackup(cursor)
            return service.parts.work.submit(.any) { [self] in
                do throws(Failure) {
                    try importPart(session, request, answer)
                } catch {
                    answer(.failure(error))
                }
            }
        }
        let header = try BackupHeader(Array(request.bytes.prefix(BackupHeader.byteCount)))
        try allowBackup(id, for: .importItems, .asksRecoveryCode, .imported, answer) { (typed) throws(Failure) in
            guard let typed, let code = RecoveryCode(typed: typed) else {
                throw Failure(
                    .itemAuthenticationFailed, "The text that was entered is not a recovery code.",
                    hint: "A recovery code has 26 characters; check each of them.")
            }
            let reader = try BackupReader(header, code)
            return .import(BackupSession.Import(file: BackupImport(header, reader)))
        } then: { [self] (session) throws(Failure) in
            try importPart(session, request, answer)
        }
    }

    /// Verifies the next bytes of the backup or, when the whole backup was verified, adds the items in them.
    private func importPart(
        _ start: BackupSession, _ request: Request.ImportItems, _ answer: Answer
    ) throws(Failure) {
        var session = start
        guard case .import(var part) = start.work else {
            throw Failure(.invalidContext, "The cursor belongs to an export.")
        }
        let keychain = try keychain()
        var staying = StayingItems()
        var (added, present) = (part.added, part.present)
        let progress = try part.file.feed(request.bytes, isLast: request.isLast) { (item) throws(Failure) in
            switch try keychain.restore(item, caller: caller, proof: session.proof) {
            case .added: added += 1
            case .present: present += 1
            case .stays(let reason): staying.add(StayingItem(item.itemClass, item.attributes, reason))
            }
        }
        (part.added, part.present) = (added, present)
        session.work = .import(part)
        let cursor = progress == .finished ? nil : try keepBackup(session)
        answer(
            .imported(
                Reply.Imported(
                    wantsStart: progress == .wantsStart, added: part.added, present: part.present, staying: staying,
                    cursor: cursor)))
    }
}
