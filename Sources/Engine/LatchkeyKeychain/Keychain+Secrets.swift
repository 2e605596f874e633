// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

// The rows of the Secret Service (docs/design/decisions/048-secret-service.md): items, collections, and what a person
// answered when a program asked for an item of another one. All have class `secret` and an access group that no program
// can name.

/// The values of `AttributeCode.collection` that are not the identifier of a collection.
package enum SecretRows {
    /// The collection of the rows that are collections.
    package static let collections = "@collections"

    /// The collection of the answers for an item.
    package static func answers(for item: String) -> String { answersBegin + item }

    /// The item for which an answer was given; nil for a row that is no answer.
    package static func itemOfAnswer(_ collection: String) -> String? {
        collection.begins(with: answersBegin) ? String(collection.dropFirst(answersBegin.count)) : nil
    }

    private static let answersBegin = "@answers/"
}

extension Item {
    /// Whether the row is a collection or an answer of the Secret Service, and no item.
    var isOfSecretService: Bool {
        if case .text(let collection) = attributes[.collection] { collection.begins(with: "@") } else { false }
    }
}

extension Keychain {
    /// Rows with the rarest pair are counted as far as this, and all of more rows are as rare.
    private static let countedRows = 65

    /// The index of the pair that the fewest rows have; nil if there is no pair. So the cost of a search follows the matches of
    /// its rarest pair.
    func rarestPair(_ pairs: SecretPairs, in store: any ItemReading) throws(Failure) -> [UInt8]? {
        var rarest: (hash: [UInt8], count: Int)?
        for pair in pairs.all {
            let hash = try index.pair(pair)
            guard pairs.all.count > 1 else { return hash }
            let count = try store.pairCount(hash, limit: Self.countedRows)
            if count < rarest?.count ?? .max { rarest = (hash, count) }
            if count == 0 { break }
        }
        return rarest?.hash
    }

    /// All rows that match, with their attributes and access controls, without any proof; for queries that match few rows.
    package func secretRows(_ query: ItemQuery, caller: Caller) throws(Failure) -> [FoundItem] {
        var (rows, cursor) = ([FoundItem](), SearchCursor())
        while try list(query, caller: caller, from: &cursor, emit: { rows.append($0) }) == .more {}
        return rows
    }
}

// MARK: - Answers

extension AuditEvent {
    /// What the log says about an answer; nil for one that is not kept.
    fileprivate init?(_ answer: SecretAnswer) {
        switch answer {
        case .once: return nil
        case .session: self = .allowedUntilLogout
        case .always: self = .alwaysAllowed
        case .never: self = .neverAllowed
        }
    }
}

/// What a person answered for a program and an item.
package struct AnswerKey: Sendable {
    /// The identifier of the item.
    package let item: String
    /// The identifier of the answer.
    package let answer: String

    package init(item: String, answer: String) { (self.item, self.answer) = (item, answer) }

    package var attributes: Attributes {
        [.collection: .text(SecretRows.answers(for: item)), .identifier: .text(answer)]
    }
}

extension Keychain {
    /// The identifier of an item in the audit log, from its persistent reference; nil for a reference of another store.
    package func identifier(_ reference: [UInt8]) throws(Failure) -> [UInt8]? { try references.id(reference) }

    /// Records an answer, and stores “always” and “never”. Does nothing if the item was deleted meanwhile.
    ///
    /// - Parameter program: the name of the program.
    /// - Returns: whether the item is still there.
    package func keepAnswer(
        _ answer: SecretAnswer, _ key: AnswerKey, program: String, caller: Caller
    ) throws(Failure) -> Bool {
        guard let event = AuditEvent(answer) else { return true }
        try checkReadable()
        defer { reportDamage() }
        var row: StoredRow?
        if [.always, .never].contains(answer) {
            let attributes = key.attributes.merging([.owner: .text(program), .label: .text(answer.rawValue)])
            let request = Request.AddItem(
                itemClass: .secret, attributes: attributes, accessControl: AccessControl(), secret: nil, returns: [],
                authentication: Authentication(
                    context: nil, skipsProtected: false, prompting: Prompting(reason: "", interactionAllowed: false)))
            row = try sealed(newItem(request, caller, .none), .secret, nil, .none)
        }
        return try writeWithinQuota { [row] (store) throws(Failure) in
            guard let item = try secretRow(of: key.item, in: store) else { return false }
            if let row {
                // One that cannot be read, or came with a backup.
                try deleteAnswers(key.attributes, about: item, caller, store)
                try insertRow(row, store)
            }
            try audit.append(event, item: item + (row?.id ?? []), caller: caller, to: store)
            return true
        }
    }

    /// Deletes an answer.
    ///
    /// - Parameter wasGranted: whether it was one that is not stored.
    /// - Throws: `itemNotFound` if there is none.
    package func withdrawAnswer(_ key: AnswerKey, wasGranted: Bool, caller: Caller) throws(Failure) {
        try checkReadable()
        defer { reportDamage() }
        try write { (store) throws(Failure) in
            let item = try secretRow(of: key.item, in: store) ?? []
            guard try deleteAnswers(key.attributes, about: item, caller, store) == 0 else { return }
            guard wasGranted else { throw Failure(.itemNotFound, "There is no such answer.") }
            try audit.append(.answerEnded, item: item, caller: caller, to: store)
        }
    }

    /// Deletes the answers with these attributes.
    ///
    /// - Parameter item: the name of the row of the item that they are about; empty if it is not there any more.
    /// - Returns: how many there were.
    @discardableResult
    func deleteAnswers(
        _ attributes: Attributes, about item: [UInt8], _ caller: Caller, _ store: any ItemWriting
    ) throws(Failure) -> Int {
        var answers: [RowMark] = []
        try forEachSecret(attributes, in: store) { row, _ in answers.append(RowMark(row)) }
        for answer in answers {
            try deleteRow(answer, store)
            let name = item.isEmpty ? [UInt8](repeating: 0, count: answer.id.count) : item
            try audit.append(.answerEnded, item: name + answer.id, caller: caller, to: store)
        }
        return answers.count
    }

    /// Deletes “always” of an item of the Secret Service whose access control changes: it was given for the one before.
    /// “Never” remains.
    func endPermissions(
        of item: Item, _ row: StoredRow, _ caller: Caller, _ store: any ItemWriting
    ) throws(Failure) {
        guard row.itemClass == .secret, !item.isOfSecretService,
            case .text(let identifier)? = item.attributes[.identifier]
        else { return }
        let permissions: Attributes = [
            .collection: .text(SecretRows.answers(for: identifier)), .label: .text(SecretAnswer.always.rawValue),
        ]
        try deleteAnswers(permissions, about: row.id, caller, store)
    }

    /// The name of the row of an item; nil if there is none.
    private func secretRow(of identifier: String, in store: any ItemReading) throws(Failure) -> [UInt8]? {
        var name: [UInt8]?
        try forEachSecret([.identifier: .text(identifier)], in: store) { row, item in
            if !item.isOfSecretService { name = row.id }
        }
        return name
    }

    /// The rows of the Secret Service that have these attributes. They belong to the access group of the service, which no
    /// caller has.
    private func forEachSecret(
        _ attributes: Attributes, in store: any ItemReading, _ body: (StoredRow, Item) -> Void
    ) throws(Failure) {
        let service = Caller(groups: [SecretService.group], label: "", processID: 0, userID: 0)
        try forEachMatch(
            ItemQuery(itemClass: .secret, attributes: attributes), service, columns: .withoutSecret, in: store
        ) { (row, item) throws(Failure) in
            body(row, item)
            return true
        }
    }
}
