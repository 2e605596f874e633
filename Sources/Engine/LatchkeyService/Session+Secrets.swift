// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import LatchkeyWire

// The calls of other programs to the Secret Service (docs/design/decisions/048-secret-service.md).
//
// Each call has a session of its own, whose caller is the program that asks and whose only access group is that of the
// Secret Service. So reads, prompts, proofs and the audit log are those of every other item, and nothing that the provider
// sends reaches an item of another group.

extension Session {
    func useSecrets(_ request: Request.UseSecrets, _ call: Call) async throws(Failure) -> Reply {
        guard let callers = service.parts.secretCallers else {
            throw Failure(.unimplemented, "This daemon has no Secret Service.")
        }
        guard request.process.userID == caller.userID else {
            throw Failure(.notPermitted, "A program of another user cannot use this keychain.")
        }
        let (provider, process) = (caller, request.process)
        let program: AskingProgram
        if let work = callers.work {
            program = try await work.run { () throws(Failure) in try callers.program(process, namedBy: provider) }
        } else {
            program = try callers.program(process, namedBy: provider)
        }
        let session = service.session(of: program, pages)
        let isOpen = state.withLock { state in
            state.delegates[call.id] = session
            return !state.isClosed
        }
        defer { state.withLock { _ = $0.delegates.removeValue(forKey: call.id) } }
        guard isOpen else { throw Refusal.connectionEnded }
        return try await SecretCall(session, program, request, call).reply()
    }
}

/// One call of a program.
private struct SecretCall: Sendable {
    /// How an item concerns the program.
    private enum Standing: Sendable {
        /// The program stored it, or may always read it.
        case own
        /// The person said that it may never read it.
        case never
        /// The person has not answered yet.
        case foreign
    }

    let session: Session
    let program: AskingProgram
    let request: Request.UseSecrets
    let call: Call

    init(_ session: Session, _ program: AskingProgram, _ request: Request.UseSecrets, _ call: Call) {
        (self.session, self.program, self.request, self.call) = (session, program, request, call)
    }

    func reply() async throws(Failure) -> Reply {
        switch request.action {
        case .store(let item, let replaces): try await store(item, replaces)
        case .search(let collection, let pairs):
            if pairs == .none { try ownItems(in: collection) } else { try await search(collection, pairs) }
        case .everyItem: try await everyItem()
        case .read(let items): try await read(items)
        case .change(let item, let changes): try await change(item, changes)
        case .delete(let item): try await delete(item)
        case .collections:
            .items(
                try rows([.collection: .text(SecretRows.collections)])
                    .filter { !$0.secretIdentifier.hasBytes(of: SecretService.login) }, more: false)
        case .createCollection(let label): try await createCollection(label)
        case .renameCollection(let collection, let label):
            try await update(try ownCollection(collection), [.label: .text(label)])
        case .deleteCollection(let collection): try await deleteCollection(collection)
        case .answers: try await listAnswers()
        case .forgetAnswer(let item, let answer): try await forget(answer, for: item)
        case .protectNew(let collection, let control): try await protectNew(collection, control)
        }
    }

    // MARK: - Rows

    private func query(_ attributes: Attributes, _ pairs: SecretPairs = .none) -> ItemQuery {
        var query = ItemQuery(itemClass: .secret, attributes: attributes)
        query.pairs = pairs
        return query
    }

    private func rows(_ attributes: Attributes) throws(Failure) -> [FoundItem] {
        try session.keychain().secretRows(query(attributes), caller: session.caller)
    }

    /// The item with that identifier; nil if there is none.
    private func item(_ identifier: String) throws(Failure) -> FoundItem? {
        try rows([.identifier: .text(identifier)]).first { !$0.secretCollection.begins(with: "@") }
    }

    private static let neverAnswered = Failure(
        .userCancel, "The person has answered that this program may never read the item.",
        hint: "Change the answer with: latchkey secrets answers")

    private func collection(_ identifier: String) throws(Failure) -> FoundItem {
        let key: Attributes = [.collection: .text(SecretRows.collections), .identifier: .text(identifier)]
        guard let found = try rows(key).first else { throw Failure(.itemNotFound, "There is no such collection.") }
        return found
    }

    /// A collection that the program made; the one that exists always has no owner.
    private func ownCollection(_ identifier: String) throws(Failure) -> FoundItem {
        let found = try collection(identifier)
        guard found.secretOwner.hasBytes(of: program.name) else {
            throw Failure(.notPermitted, "Another program made this collection.")
        }
        return found
    }

    /// Asks the person for what concerns all programs. In the tiers `user` and `simulated` every program of the user can be the
    /// command that does it; without a passcode nothing shows that a person agreed.
    private func confirm(_ reason: String) async throws(Failure) {
        guard !session.oneUserOwnsAll else { return }
        guard try session.keychain().isPasscodeSet else {
            throw Failure(
                .passcodeNotSet, "This concerns other programs, so their owner has to agree at a prompt.",
                hint: "Set a passcode first, with: latchkey passcode set")
        }
        _ = try await session.ask(
            call, Question(plan: Keychain.listingPlan, prompting: Prompting(reason: reason)))
    }

    private func newIdentifier() throws(Failure) -> String {
        Hexadecimal.encode(try session.service.parts.random.bytes(8).copyBytes())
    }

    private func add(
        _ attributes: Attributes, secret: SecretBytes?, accessControl: AccessControl = AccessControl()
    ) async throws(Failure) -> Reply {
        try await session.add(
            Request.AddItem(
                itemClass: .secret, attributes: attributes, accessControl: accessControl, secret: secret,
                returns: .attributes, authentication: authentication()), call)
    }

    /// Changes a row, which needs what the row demands before the change.
    ///
    /// - Parameter context: with proofs that the person has given for this call; nil if there are none yet.
    private func update(
        _ row: FoundItem, _ changes: Attributes, secret: SecretBytes? = nil, accessControl: AccessControl? = nil,
        _ context: ContextHandle? = nil
    ) async throws(Failure) -> Reply {
        try await session.update(
            Request.UpdateItems(
                query: query([.collection: .text(row.secretCollection), .identifier: .text(row.secretIdentifier)]),
                changes: changes, accessControl: accessControl, secret: secret,
                authentication: authentication(context, reason: "change the secret “\(row.secretLabel)”")), call)
    }

    private func authentication(_ context: ContextHandle? = nil, reason: String = "") -> Authentication {
        Authentication(
            context: context, skipsProtected: false,
            prompting: Prompting(reason: reason, interactionAllowed: request.prompting.interactionAllowed))
    }

    // MARK: - Who may read

    private func standing(_ item: FoundItem) throws(Failure) -> Standing {
        guard !item.secretOwner.hasBytes(of: program.name) else { return .own }
        switch try answer(for: item).map(\.secretLabel).flatMap(SecretAnswer.init(rawValue:)) {
        case .always: return .own
        case .never: return .never
        case .once, nil: return .foreign
        }
    }

    private func answerKey(_ item: FoundItem) throws(Failure) -> Attributes {
        [
            .collection: .text(SecretRows.answers(for: item.secretIdentifier)),
            .identifier: .text(Hexadecimal.encode(try SHA256.hash(Array(program.name.utf8)))),
        ]
    }

    private func answer(for item: FoundItem) throws(Failure) -> FoundItem? { try rows(answerKey(item)).first }

    private func listAnswers() async throws(Failure) -> Reply {
        try await confirm("list what you have answered to programs")
        var (answers, labels): ([FoundItem], [String: String]) = ([], [:])
        for row in try rows([:]) {
            if SecretRows.itemOfAnswer(row.secretCollection) != nil {
                answers.append(row)
            } else if !row.secretCollection.begins(with: "@") {
                labels[row.secretIdentifier] = row.secretLabel
            }
        }
        for place in answers.indices {
            // An identifier of no item names one that was deleted since.
            let label = SecretRows.itemOfAnswer(answers[place].secretCollection).flatMap { labels[$0] }
            answers[place].attributes?[.itemDescription] = label.map { .text($0) }
        }
        return session.lastPart(answers, call)
    }

    private func forget(_ answer: String, for item: String) async throws(Failure) -> Reply {
        let key: Attributes = [.collection: .text(SecretRows.answers(for: item)), .identifier: .text(answer)]
        guard try rows(key).allSatisfy({ !$0.secretOwner.hasBytes(of: program.name) }) else {
            throw Failure(.notPermitted, "A program cannot take back what was answered to itself.")
        }
        try await confirm("forget what you have answered to a program")
        return try await session.delete(query(key))
    }

    /// What a prompt for these items of others offers: “always” and “never” only where the answer will be stored. For several
    /// items none is: the prompt names one of them, and the answer would be for others that the person has not seen. Answers are
    /// for reads only.
    private func lastStep(for foreign: [FoundItem], _ purpose: PromptPurpose) -> LastStep {
        storesAnswers && foreign.count == 1 && purpose == .readSecret ? .asksAnswer : .asksOnce
    }

    /// Whether answers are stored for the program: it is determined, and the process cannot be another one.
    private var storesAnswers: Bool { request.isPinned && program.isDetermined }

    private func store(_ answer: SecretAnswer, for item: FoundItem) async throws(Failure) {
        guard storesAnswers, answer != .once else { return }
        if let earlier = try self.answer(for: item) {
            _ = try await update(earlier, [.label: .text(answer.rawValue)])
        } else {
            let row: Attributes = [.owner: .text(program.name), .label: .text(answer.rawValue)]
            _ = try await add(row.merging(answerKey(item)), secret: nil)
        }
    }

    // MARK: - Searching

    private func search(_ collection: String?, _ pairs: SecretPairs) async throws(Failure) -> Reply {
        var conditions: Attributes = [:]
        if let collection { conditions[.collection] = .text(collection) }
        return try await list(query(conditions, pairs)) { (item) throws(Failure) in try shown(item, pairs) }
    }

    /// The items of all programs, which no search shows.
    private func everyItem() async throws(Failure) -> Reply {
        try await confirm("list what every program has stored")
        let (keychain, caller) = (try session.keychain(), session.caller)
        // Recorded before the first name is sent.
        try await session.service.parts.work.run { () throws(Failure) in
            try keychain.record(.namesListed, caller: caller)
        }
        return try await list(query([:])) { $0.secretCollection.begins(with: "@") ? nil : $0 }
    }

    /// Sends what `shown` returns for each item.
    private func list(
        _ query: ItemQuery, _ shown: @escaping @Sendable (FoundItem) throws(Failure) -> FoundItem?
    ) async throws(Failure) -> Reply {
        var (cursor, isFirst) = (SearchCursor(), true)
        while true {
            let start = cursor
            let read: @Sendable () throws(Failure) -> ([FoundItem], SearchResult, SearchCursor) = {
                () throws(Failure) in
                var (rows, cursor) = ([FoundItem](), start)
                let result = try session.keychain().list(query, caller: session.caller, from: &cursor) {
                    rows.append($0)
                }
                var items: [FoundItem] = []
                for row in rows { if let item = try shown(row) { items.append(item) } }
                return (items, result, cursor)
            }
            let items: [FoundItem]
            let result: SearchResult
            (items, result, cursor) = isFirst ? try read() : try await session.inTurn(call, read)
            isFirst = false
            guard result == .more else { return session.lastPart(items, call) }
            session.sendPart(items, call)
        }
    }

    /// What the program may see of an item; nil if nothing.
    private func shown(_ item: FoundItem, _ pairs: SecretPairs) throws(Failure) -> FoundItem? {
        switch try standing(item) {
        case .own: return readable(item)
        case .never: return nil
        case .foreign:
            // Otherwise a search would list what every other program has stored.
            guard pairs.namesMoreThanSchema else { return nil }
            var item = item
            item.attributes = item.attributes?.filter { [.identifier, .collection].contains($0.key) }
            (item.persistentReference, item.accessControl) = (nil, nil)
            return item
        }
    }

    /// An item that the program may read; without access control while the keychain is locked.
    private func readable(_ item: FoundItem) -> FoundItem {
        var item = item
        if session.service.authority.state.isLocked { item.accessControl = nil }
        return item
    }

    /// The items that the program stored, or may always read.
    private func ownItems(in collection: String?) throws(Failure) -> Reply {
        var items: [FoundItem] = []
        for row in try rows([.owner: .text(program.name)]) {
            guard let identifier = SecretRows.itemOfAnswer(row.secretCollection) else {
                if !row.secretCollection.begins(with: "@") { items.append(row) }
                continue
            }
            guard row.secretLabel.hasBytes(of: SecretAnswer.always.rawValue) else { continue }
            if let item = try item(identifier) { items.append(item) }
        }
        if let collection { items.removeAll { !$0.secretCollection.hasBytes(of: collection) } }
        return session.lastPart(items.map(readable), call)
    }

    // MARK: - Reading

    private func read(_ identifiers: [String]) async throws(Failure) -> Reply {
        var (items, foreign): ([FoundItem], [FoundItem]) = ([], [])
        for identifier in identifiers {
            guard let item = try item(identifier) else { continue }
            switch try standing(item) {
            case .own: items.append(item)
            case .foreign:
                items.append(item)
                foreign.append(item)
            // Among several it is left out, as one that is locked.
            case .never: if identifiers.count == 1 { throw Self.neverAnswered }
            }
        }
        let context = try context()
        if !foreign.isEmpty { try await agree(foreign, items, context, to: .readSecret) }
        var found: [FoundItem] = []
        for item in items { found += try await secret(of: item, context) }
        return session.lastPart(found, call)
    }

    /// A context for the proofs of this call. It ends with the session, which is that of this call.
    private func context() throws(Failure) -> ContextHandle {
        guard case .context(let context) = try session.createContext() else {
            throw Failure(.internalFailure, "A context was not created.")
        }
        return context
    }

    /// Asks the person whether the program may read, change or delete items of others, with one prompt that also asks for what
    /// `items` require.
    private func agree(
        _ foreign: [FoundItem], _ items: [FoundItem], _ context: ContextHandle, to purpose: PromptPurpose
    ) async throws(Failure) {
        guard request.prompting.interactionAllowed else {
            throw Failure(.interactionNotAllowed, "The person has to agree, and a prompt is not allowed.")
        }
        var stages: [Set<AuthenticationMethod>] = []
        for item in items {
            for stage in item.accessControl?.plan.stages ?? [] where !stages.contains(stage) { stages.append(stage) }
        }
        let others = foreign.count - 1
        // A long label must not hide that there are others.
        let label =
            others == 0
            ? foreign[0].secretLabel : "\(foreign[0].secretLabel.prefix(Limits.titleCharacters / 2)) + \(others)"
        let plan = AuthenticationPlan(stages)
        // Only requests for the same are answered together.
        let names = Set(foreign.map { "\(purpose.rawValue) \($0.secretIdentifier) \(program.name)" })
        let lastStep = lastStep(for: foreign, purpose)
        let prompts = session.service.secretPrompts
        let answer = try await prompts.answer(for: program.prompted, names) { () async throws(Failure) in
            let agreement = try await session.ask(
                call,
                Question(
                    plan: plan, context: context, prompting: Prompting(reason: label), purpose: purpose,
                    lastStep: lastStep))
            guard let answer = agreement.text.flatMap(SecretAnswer.init(entered:)) else {
                throw Failure(.internalFailure, "The prompt gave no answer.")
            }
            return answer
        }
        if lastStep == .asksAnswer { try await store(answer, for: foreign[0]) }
        guard answer != .never else { throw SecretPrompts.refusedBefore }
    }

    private func secret(of item: FoundItem, _ context: ContextHandle) async throws(Failure) -> [FoundItem] {
        let query = query([.collection: .text(item.secretCollection), .identifier: .text(item.secretIdentifier)])
        let copy = Request.CopyItems(
            query: query, limit: .one, returns: [.data, .attributes],
            authentication: authentication(context, reason: "read the secret “\(item.secretLabel)”"))
        let reply: Reply
        do throws(Failure) {
            switch try session.copy(copy, call) {
            case .reply(let now): reply = now
            case .waits(let work): reply = try await work()
            }
        } catch {
            // Deleted since.
            if error.status == .itemNotFound { return [] }
            throw error
        }
        guard case .items(let items, more: false) = reply else {
            throw Failure(.internalFailure, "A secret was not read as one item.")
        }
        return items
    }

    // MARK: - Writing

    private func store(_ new: NewSecret, _ replaces: Bool) async throws(Failure) -> Reply {
        let control = try accessControl(ofNew: new.collection)
        let attributes: Attributes = [
            .label: .text(new.label), .contentType: .text(new.contentType), .pairs: .data(new.pairs.bytes),
        ]
        if replaces, new.pairs != .none {
            let same = try session.keychain().secretRows(
                query([.collection: .text(new.collection)], new.pairs), caller: session.caller
            ).first { $0.secretPairs == new.pairs && $0.secretOwner.hasBytes(of: program.name) }
            if let same {
                _ = try await update(same, attributes, secret: new.secret)
                return .items(try rows([.identifier: .text(same.secretIdentifier)]), more: false)
            }
        }
        let key: Attributes = [
            .collection: .text(new.collection), .identifier: .text(try newIdentifier()), .owner: .text(program.name),
        ]
        return try await add(attributes.merging(key), secret: new.secret, accessControl: control)
    }

    /// The access control of an item that is stored in a collection now.
    private func accessControl(ofNew collection: String) throws(Failure) -> AccessControl {
        do throws(Failure) {
            return try self.collection(collection).accessControl ?? AccessControl()
        } catch {
            // The collection that exists always has a row only if it has an access control.
            guard collection.hasBytes(of: SecretService.login), error.status == .itemNotFound else { throw error }
            return AccessControl()
        }
    }

    private func protectNew(_ collection: String, _ control: AccessControl) async throws(Failure) -> Reply {
        try await confirm("change what new secrets of programs demand")
        let key: Attributes = [.collection: .text(SecretRows.collections), .identifier: .text(collection)]
        if collection.hasBytes(of: SecretService.login), try rows(key).isEmpty {
            _ = try await add(key.merging([.label: .text("Login")]), secret: nil, accessControl: control)
            return .done
        }
        return try await update(try self.collection(collection), [:], accessControl: control)
    }

    /// An item that the program stored, or that it may change or delete now because the person agrees: an answer “always” is for
    /// reads.
    ///
    /// - Returns: the item, and the context with what the person has proven; nil if they were not asked.
    private func agreed(
        _ identifier: String, to purpose: PromptPurpose
    ) async throws(Failure) -> (item: FoundItem, context: ContextHandle?) {
        guard let item = try item(identifier) else { throw Failure(.itemNotFound, "There is no such item.") }
        guard !item.secretOwner.hasBytes(of: program.name) else { return (item, nil) }
        if case .never = try standing(item) { throw Self.neverAnswered }
        let context = try context()
        // A removal needs no proof of what the item demands, as that of every other item.
        try await agree([item], purpose == .deleteSecret ? [] : [item], context, to: purpose)
        return (item, context)
    }

    private func change(_ identifier: String, _ changes: SecretChanges) async throws(Failure) -> Reply {
        let (item, context) = try await agreed(identifier, to: .changeSecret)
        var attributes: Attributes = [:]
        if let label = changes.label { attributes[.label] = .text(label) }
        if let pairs = changes.pairs { attributes[.pairs] = .data(pairs.bytes) }
        if let type = changes.contentType { attributes[.contentType] = .text(type) }
        return try await update(item, attributes, secret: changes.secret, context)
    }

    private func delete(_ identifier: String) async throws(Failure) -> Reply {
        let (item, _) = try await agreed(identifier, to: .deleteSecret)
        _ = try await session.delete(
            query([.collection: .text(item.secretCollection), .identifier: .text(identifier)]))
        return try await deleteAnswers(for: identifier)
    }

    private func deleteAnswers(for identifier: String) async throws(Failure) -> Reply {
        do throws(Failure) {
            return try await session.delete(query([.collection: .text(SecretRows.answers(for: identifier))]))
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return .done
        }
    }

    private func createCollection(_ label: String) async throws(Failure) -> Reply {
        try await add(
            [
                .collection: .text(SecretRows.collections), .identifier: .text(try newIdentifier()),
                .label: .text(label), .owner: .text(program.name),
            ], secret: nil)
    }

    private func deleteCollection(_ identifier: String) async throws(Failure) -> Reply {
        _ = try ownCollection(identifier)
        let items = try rows([.collection: .text(identifier)])
        guard items.allSatisfy({ $0.secretOwner.hasBytes(of: program.name) }) else {
            throw Failure(.notPermitted, "Other programs have stored items in this collection.")
        }
        for item in items { _ = try await delete(item.secretIdentifier) }
        return try await session.delete(
            query([.collection: .text(SecretRows.collections), .identifier: .text(identifier)]))
    }
}

extension FoundItem {
    private func text(_ code: AttributeCode) -> String {
        if case .text(let text) = attributes?[code] { text } else { "" }
    }

    var secretCollection: String { text(.collection) }
    var secretIdentifier: String { text(.identifier) }
    var secretLabel: String { text(.label) }
    var secretOwner: String { text(.owner) }
    var secretPairs: SecretPairs {
        if case .data(let bytes) = attributes?[.pairs] { SecretPairs(bytes) ?? .none } else { .none }
    }
}
