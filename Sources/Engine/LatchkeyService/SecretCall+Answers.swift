// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy

// Who may read an item: what the person is asked for, and what was answered.

/// An answer “until logout”. It is in the memory of the session that passed the call on, and ends with it or with its proofs.
///
/// That session is the connection of the provider, which ends with the message bus of the login session; and proofs end when
/// the last login session of the user does, and when the keychain is locked.
struct SecretGrant: Sendable {
    /// The identifiers of the item and of the answer, as for an answer that is stored.
    let item: String
    let answer: String
    let program: String

    func isFor(item: String, answer: String) -> Bool {
        self.item.hasBytes(of: item) && self.answer.hasBytes(of: answer)
    }
}

extension Session {
    /// - Parameter epoch: the session's `proofEpoch` before the person was asked: an answer from before a lock grants nothing.
    func grant(_ grant: SecretGrant, since epoch: UInt64) {
        state.withLock { state in
            guard !state.isClosed, state.proofEpoch == epoch,
                !state.grants.contains(where: { $0.isFor(item: grant.item, answer: grant.answer) })
            else { return }
            state.grants.append(grant)
        }
    }

    var grants: [SecretGrant] { state.withLock { $0.grants } }

    /// - Returns: whether there was one.
    @discardableResult
    func withdrawGrants(where isWithdrawn: (SecretGrant) -> Bool) -> Bool {
        state.withLock { state in
            let count = state.grants.count
            state.grants.removeAll(where: isWithdrawn)
            return state.grants.count < count
        }
    }
}

extension SecretCall {
    func standing(_ item: FoundItem) throws(Failure) -> Standing {
        guard !item.secretOwner.hasBytes(of: program.name) else { return .own([]) }
        switch try answer(for: item).map(\.secretLabel).flatMap(SecretAnswer.init(rawValue:)) {
        case .always: return .own(.always)
        case .never: return .never
        case .once, .session, nil:
            let isGranted = try grantedItems().contains { $0.hasBytes(of: item.secretIdentifier) }
            return isGranted ? .own(.untilLogout) : .foreign
        }
    }

    /// The identifier of the answers for the program.
    private func answerIdentifier() throws(Failure) -> String { try Self.identifier(program.name) }

    /// For whom prompts are shown one after another, and refusals count.
    private func askerIdentifier() throws(Failure) -> String { try Self.identifier(program.prompted) }

    /// Names are compared by their bytes, and texts are not.
    private static func identifier(_ name: String) throws(Failure) -> String {
        Hexadecimal.encode(try SHA256.hash(Array(name.utf8)))
    }

    private func answerKey(_ item: FoundItem) throws(Failure) -> AnswerKey {
        AnswerKey(item: item.secretIdentifier, answer: try answerIdentifier())
    }

    private func answer(for item: FoundItem) throws(Failure) -> FoundItem? {
        try rows(answerKey(item).attributes).first
    }

    /// The identifiers of the items that the program may read until the session ends.
    func grantedItems() throws(Failure) -> [String] {
        let grants = provider.grants
        guard keepsAnswers, !grants.isEmpty else { return [] }
        let answer = try answerIdentifier()
        return grants.filter { $0.answer.hasBytes(of: answer) }.map(\.item)
    }

    /// What a prompt for these items of others offers: more than “once” only where the answer will be kept. For several
    /// items none is: the prompt names one of them, and the answer would be for others that the person has not seen. Answers are
    /// for reads only.
    private func lastStep(for foreign: [FoundItem], _ purpose: PromptPurpose) -> LastStep {
        keepsAnswers && foreign.count == 1 && purpose == .readSecret ? .asksAnswer : .asksOnce
    }

    /// Whether answers are kept for the program: it is determined, and the process cannot be another one.
    private var keepsAnswers: Bool { request.isPinned && program.isDetermined }

    /// - Parameter epoch: the provider's `proofEpoch` before the person was asked.
    private func keep(_ answer: SecretAnswer, for item: FoundItem, since epoch: UInt64) async throws(Failure) {
        let (keychain, key) = (try session.keychain(), try answerKey(item))
        let (name, caller) = (program.name, session.caller)
        let provider = provider
        try await session.service.parts.work.run(.oneItem) { () throws(Failure) in
            // In the log before it counts.
            guard try keychain.keepAnswer(answer, key, program: name, caller: caller), answer == .session else {
                return
            }
            // In this piece of work, so that a change of the item's rule that comes later finds it.
            provider.grant(SecretGrant(item: key.item, answer: key.answer, program: name), since: epoch)
        }
    }

    /// Asks the person whether the program may read, change or delete items of others, with one prompt that also asks for what
    /// `items` require.
    ///
    /// - Parameters:
    ///   - change: what is to be changed, if requests for the same items can differ in that.
    ///   - proofs: what is asked for besides.
    func agree(
        _ foreign: [FoundItem], _ items: [FoundItem], _ context: ContextHandle, to purpose: PromptPurpose,
        _ change: String = "", and proofs: [Set<AuthenticationMethod>] = []
    ) async throws(Failure) {
        guard request.prompting.interactionAllowed else {
            throw Failure(.interactionNotAllowed, "The person has to agree, and a prompt is not allowed.")
        }
        var stages: [Set<AuthenticationMethod>] = []
        for stage in items.flatMap({ $0.accessControl?.plan.stages ?? [] }) + proofs where !stages.contains(stage) {
            stages.append(stage)
        }
        let others = foreign.count - 1
        // A prompt cuts a long text at its end, where the number of the other items is.
        let label =
            others == 0
            ? foreign[0].secretLabel : "\(foreign[0].secretLabel.prefix(Limits.titleCharacters / 2)) + \(others)"
        let plan = AuthenticationPlan(stages)
        // Only requests of one program for the same are answered together.
        let name = try answerIdentifier()
        let names = Set(foreign.map { "\(purpose.rawValue)\(change) \($0.secretIdentifier) \(name)" })
        let lastStep = lastStep(for: foreign, purpose)
        let asking = try askerIdentifier()
        let answer = try await session.service.secretPrompts.answer(for: asking, names) { () async throws(Failure) in
            let epoch = provider.proofEpoch
            let agreement = try await session.ask(
                call,
                Question(
                    plan: plan, context: context, prompting: Prompting(reason: label), purpose: purpose,
                    lastStep: lastStep, item: foreign.count == 1 ? row(of: foreign[0]) : []))
            guard let answer = agreement.text.flatMap(SecretAnswer.init(entered:)) else {
                throw Failure(.internalFailure, "The prompt gave no answer.")
            }
            // Once, although several requests may share the prompt.
            if lastStep == .asksAnswer { try await keep(answer, for: foreign[0], since: epoch) }
            return answer
        }
        guard answer != .never else { throw Self.neverAnswered }
    }

    /// Asks the person to unlock the keychain. A refusal counts as one of an item does, so that no program asks again and again.
    func unlock() async throws(Failure) -> Reply {
        guard session.service.authority.state.isLocked else { return .done }
        let asking = try askerIdentifier()
        _ = try await session.service.secretPrompts.answer(for: asking, ["unlock"]) { () async throws(Failure) in
            _ = try await session.unlock(request.prompting, call)
            return .once
        }
        return .done
    }

    // MARK: - Listing and forgetting

    func listAnswers() async throws(Failure) -> Reply {
        try await confirm("list what you have answered to programs")
        var (answers, labels): ([FoundItem], [String: String]) = ([], [:])
        for row in try rows([:]) {
            if SecretRows.itemOfAnswer(row.secretCollection) != nil {
                answers.append(row)
            } else if !row.secretCollection.begins(with: "@") {
                labels[row.secretIdentifier] = row.secretLabel
            }
        }
        for grant in session.service.sessions.flatMap(\.grants) where labels[grant.item] != nil {
            answers.append(
                FoundItem(
                    itemClass: .secret,
                    attributes: [
                        .collection: .text(SecretRows.answers(for: grant.item)), .identifier: .text(grant.answer),
                        .owner: .text(grant.program), .label: .text(SecretAnswer.session.rawValue),
                    ]))
        }
        for place in answers.indices {
            // An identifier of no item names one that was deleted since.
            let label = SecretRows.itemOfAnswer(answers[place].secretCollection).flatMap { labels[$0] }
            answers[place].attributes?[.itemDescription] = label.map { .text($0) }
        }
        return session.lastPart(answers, call)
    }

    func forget(_ answer: String, for item: String) async throws(Failure) -> Reply {
        guard try !answer.hasBytes(of: answerIdentifier()) else {
            throw Failure(.notPermitted, "A program cannot take back what was answered to itself.")
        }
        try await confirm("forget what you have answered to a program")
        let wasGranted = session.service.withdrawGrants { $0.isFor(item: item, answer: answer) }
        let (keychain, key, caller) = (try session.keychain(), AnswerKey(item: item, answer: answer), session.caller)
        try await session.service.parts.work.run(.oneItem) { () throws(Failure) in
            try keychain.withdrawAnswer(key, wasGranted: wasGranted, caller: caller)
        }
        return .done
    }
}
