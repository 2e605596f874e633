// SPDX-License-Identifier: Apache-2.0

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
        let (provider, process) = (caller, request.process)
        let program = try await named(process) { (callers) throws(Failure) in
            try callers.program(process, namedBy: provider)
        }
        let session = service.session(of: program, pages)
        let isOpen = state.withLock { state in
            state.delegates[call.id] = session
            return !state.isClosed
        }
        defer { state.withLock { _ = $0.delegates.removeValue(forKey: call.id) } }
        guard isOpen else { throw Refusal.connectionEnded }
        return try await SecretCall(session, self, program, request, call).reply()
    }

    /// Determines another process that the caller has named.
    func named<Program: Sendable>(
        _ process: ProcessName, _ determine: @escaping @Sendable (any SecretCallers) throws(Failure) -> Program
    ) async throws(Failure) -> Program {
        guard let callers = service.parts.secretCallers else {
            throw Failure(.unimplemented, "This daemon determines no other programs.")
        }
        guard process.userID == caller.userID else {
            throw Failure(.notPermitted, "A program of another user cannot use this keychain.")
        }
        guard let work = callers.work else { return try determine(callers) }
        return try await work.run { () throws(Failure) in try determine(callers) }
    }
}

/// One call of a program.
struct SecretCall: Sendable {
    /// How an item concerns the program.
    enum Standing: Sendable {
        /// The program stored it, or may read it by this answer, always or until the session ends.
        case own(UseGrounds)
        /// The person said that it may never read it.
        case never
        /// The person has not answered yet.
        case foreign
    }

    /// The session of the program that asks, for this call alone.
    let session: Session
    /// The session of the program that passes the call on.
    let provider: Session
    let program: AskingProgram
    let request: Request.UseSecrets
    let call: Call

    init(
        _ session: Session, _ provider: Session, _ program: AskingProgram, _ request: Request.UseSecrets, _ call: Call
    ) {
        (self.session, self.provider) = (session, provider)
        (self.program, self.request, self.call) = (program, request, call)
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
        case .protectItem(let item, let control): try await protectItem(item, control)
        case .unlock: try await unlock()
        }
    }

    // MARK: - Rows

    func query(_ attributes: Attributes, _ pairs: SecretPairs = .none) -> ItemQuery {
        var query = ItemQuery(itemClass: .secret, attributes: attributes)
        query.pairs = pairs
        return query
    }

    func rows(_ attributes: Attributes) throws(Failure) -> [FoundItem] {
        try session.keychain().secretRows(query(attributes), caller: session.caller)
    }

    /// The item with that identifier; nil if there is none.
    func item(_ identifier: String) throws(Failure) -> FoundItem? {
        try rows([.identifier: .text(identifier)]).first { !$0.secretCollection.begins(with: "@") }
    }

    static let neverAnswered = Failure(
        .userCancel, "The person has answered that this program may never read the item.",
        hint: "Change the answer with: latchkey secrets answers")

    func collection(_ identifier: String) throws(Failure) -> FoundItem {
        let key: Attributes = [.collection: .text(SecretRows.collections), .identifier: .text(identifier)]
        guard let found = try rows(key).first else { throw Failure(.itemNotFound, "There is no such collection.") }
        return found
    }

    /// A collection that the program made; the one that exists always has no owner.
    func ownCollection(_ identifier: String) throws(Failure) -> FoundItem {
        let found = try collection(identifier)
        guard found.secretOwner.hasBytes(of: program.name) else {
            throw Failure(.notPermitted, "Another program made this collection.")
        }
        return found
    }

    /// Asks the person for what concerns all programs. In the tiers `user` and `simulated` every program of the user can be the
    /// command that does it; without a passcode nothing shows that a person agreed.
    func confirm(_ reason: String) async throws(Failure) {
        guard !session.oneUserOwnsAll else { return }
        guard try session.keychain().isPasscodeSet else {
            throw Failure(
                .passcodeNotSet, "This concerns other programs, so their owner has to agree at a prompt.",
                hint: "Set a passcode first, with: latchkey passcode set")
        }
        _ = try await session.ask(
            call, Question(plan: Keychain.listingPlan, prompting: Prompting(reason: reason)))
    }

    func newIdentifier() throws(Failure) -> String {
        Hexadecimal.encode(try session.service.parts.random.bytes(8).copyBytes())
    }

    func add(
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
    func update(
        _ row: FoundItem, _ changes: Attributes, secret: SecretBytes? = nil, accessControl: AccessControl? = nil,
        _ context: ContextHandle? = nil
    ) async throws(Failure) -> Reply {
        try await session.update(
            Request.UpdateItems(
                query: query([.collection: .text(row.secretCollection), .identifier: .text(row.secretIdentifier)]),
                changes: changes, accessControl: accessControl, secret: secret,
                authentication: authentication(context, reason: "change the secret “\(row.secretLabel)”")), call)
    }

    func authentication(_ context: ContextHandle? = nil, reason: String = "") -> Authentication {
        Authentication(
            context: context, skipsProtected: false,
            prompting: Prompting(reason: reason, interactionAllowed: request.prompting.interactionAllowed))
    }

    // MARK: - Searching

    func search(_ collection: String?, _ pairs: SecretPairs) async throws(Failure) -> Reply {
        var conditions: Attributes = [:]
        if let collection { conditions[.collection] = .text(collection) }
        return try await list(query(conditions, pairs)) { (item) throws(Failure) in try shown(item, pairs) }
    }

    /// The items of all programs, which no search shows.
    func everyItem() async throws(Failure) -> Reply {
        try await confirm("list what every program has stored")
        let (keychain, caller) = (try session.keychain(), session.caller)
        // Recorded before the first name is sent.
        try await session.service.parts.work.run { () throws(Failure) in
            try keychain.record(.namesListed, caller: caller)
        }
        return try await list(query([:])) { $0.secretCollection.begins(with: "@") ? nil : $0 }
    }

    /// Sends what `shown` returns for each item.
    func list(
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
    func shown(_ item: FoundItem, _ pairs: SecretPairs) throws(Failure) -> FoundItem? {
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
    func readable(_ item: FoundItem) -> FoundItem {
        var item = item
        if session.service.authority.state.isLocked { item.accessControl = nil }
        return item
    }

    /// The items that the program stored, or may read without being asked for.
    func ownItems(in collection: String?) throws(Failure) -> Reply {
        var items: [FoundItem] = []
        for row in try rows([.owner: .text(program.name)]) {
            guard let identifier = SecretRows.itemOfAnswer(row.secretCollection) else {
                if !row.secretCollection.begins(with: "@") { items.append(row) }
                continue
            }
            guard row.secretLabel.hasBytes(of: SecretAnswer.always.rawValue) else { continue }
            if let item = try item(identifier) { items.append(item) }
        }
        for identifier in try grantedItems() {
            if let item = try item(identifier), !items.contains(where: { $0.secretIdentifier.hasBytes(of: identifier) })
            {
                items.append(item)
            }
        }
        if let collection { items.removeAll { !$0.secretCollection.hasBytes(of: collection) } }
        return session.lastPart(items.map(readable), call)
    }

    // MARK: - Reading

    func read(_ identifiers: [String]) async throws(Failure) -> Reply {
        var (items, foreign): ([(item: FoundItem, answer: UseGrounds)], [FoundItem]) = ([], [])
        for identifier in identifiers {
            guard let item = try item(identifier) else { continue }
            switch try standing(item) {
            case .own(let answer): items.append((item, answer))
            case .foreign:
                items.append((item, .agreed))
                foreign.append(item)
            // Among several it is left out, as one that is locked.
            case .never:
                await session.recordRefusal(.never, of: row(of: item))
                if identifiers.count == 1 { throw Self.neverAnswered }
            }
        }
        let context = try context()
        if !foreign.isEmpty { try await agree(foreign, items.map(\.item), context, to: .readSecret) }
        var found: [FoundItem] = []
        for (item, answer) in items { found += try await secret(of: item, context, answer) }
        return session.lastPart(found, call)
    }

    /// A context for the proofs of this call. It ends with the session, which is that of this call.
    func context() throws(Failure) -> ContextHandle {
        guard case .context(let context) = try session.createContext() else {
            throw Failure(.internalFailure, "A context was not created.")
        }
        return context
    }

    /// The identifier of an item in the audit log; empty if it has none.
    func row(of item: FoundItem) -> [UInt8] {
        // The daemon has just made the reference. Without one the entry names no item.
        (try? item.persistentReference.flatMap(session.keychain().identifier)) ?? []
    }

    func secret(
        of item: FoundItem, _ context: ContextHandle, _ answer: UseGrounds
    ) async throws(Failure) -> [FoundItem] {
        let query = query([.collection: .text(item.secretCollection), .identifier: .text(item.secretIdentifier)])
        let copy = Request.CopyItems(
            query: query, limit: .one, returns: [.data, .attributes],
            authentication: authentication(context, reason: "read the secret “\(item.secretLabel)”"))
        let reply: Reply
        do throws(Failure) {
            switch try session.copy(copy, call, answer: answer) {
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
