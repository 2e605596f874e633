// SPDX-License-Identifier: Apache-2.0

import Dispatch
import LatchkeyClient
import LatchkeyModel
import LatchkeyWire
import Synchronization

@testable import latchkey_secrets

/// Items in memory, in place of the daemon. All programs are one, but for the items that a test gives to another.
final class MemoryKeeper: SecretKeeper {
    struct Item: Sendable {
        var new: NewSecret
        var created: Int64
        var modified: Int64
        var isForeign = false
    }

    fileprivate struct State {
        var items: [(identifier: String, item: Item)] = []
        var collections: [(identifier: String, label: String)] = [("login", "Login")]
        var lastNumber = 0
        var isLocked = false
        var time: Int64 = 1_700_000_000
        var failure: Failure?
        /// The person, who answers when a secret is read or the keychain is to be unlocked; nil without a question.
        var person: (@Sendable (CallCancellation) throws(Failure) -> Void)?
        var askers: [AskingProcess] = []
    }

    private let state = Mutex(State())

    var items: [Item] { state.withLock { $0.items.map(\.item) } }
    var askers: [AskingProcess] { state.withLock { $0.askers } }

    func setLocked(_ isLocked: Bool) { state.withLock { $0.isLocked = isLocked } }
    func fail(_ failure: Failure?) { state.withLock { $0.failure = failure } }
    func person(_ person: (@Sendable (CallCancellation) throws(Failure) -> Void)?) {
        state.withLock { $0.person = person }
    }

    /// Stores an item of another program.
    @discardableResult
    func addForeign(_ pairs: SecretPairs, _ secret: String) -> String { add(pairs, secret, isForeign: true) }

    @discardableResult
    func add(_ pairs: SecretPairs, _ secret: String, isForeign: Bool = false, collection: String = "login") -> String {
        let new = NewSecret(
            collection: collection, label: isForeign ? "foreign" : "own", contentType: "text/plain", pairs: pairs,
            secret: SecretBytes(secret.utf8))
        return state.withLock { state in
            state.lastNumber += 1
            let identifier = "f\(state.lastNumber)"
            state.items.append(
                (identifier, Item(new: new, created: state.time, modified: state.time, isForeign: isForeign)))
            return identifier
        }
    }

    /// Makes a collection, and returns its identifier.
    func addCollection(_ label: String) throws -> String {
        try state.withLock { (state) throws(Failure) in
            try state.use(.createCollection(label: label)).first.map(KeptItem.init)?.identifier ?? ""
        }
    }

    func use(
        _ action: SecretAction, for program: AskingProcess, _ cancellation: CallCancellation
    ) throws(Failure) -> [FoundItem] {
        let (failure, person) = state.withLock { state in
            state.askers.append(program)
            return (state.failure, state.person)
        }
        if let failure { throw failure }
        switch action {
        case .read, .unlock: try person?(cancellation)
        default: break
        }
        return try state.withLock { (state) throws(Failure) in try state.use(action) }
    }

    /// Answers at once what the person is not asked for.
    func begin(_ action: SecretAction, for program: AskingProcess) throws(Failure) -> (any BegunUse)? {
        let asks = state.withLock { $0.person != nil }
        switch action {
        case .read, .unlock: return Use(keeper: self, action: action, program: program, isLate: asks)
        default: return Use(keeper: self, action: action, program: program, isLate: false)
        }
    }

    private struct Use: BegunUse {
        let keeper: MemoryKeeper
        let action: SecretAction
        let program: AskingProcess
        let isLate: Bool

        func response(milliseconds: Int64) throws(Failure) -> [FoundItem]? {
            isLate ? nil : try response(CallCancellation())
        }
        func response(_ cancellation: CallCancellation) throws(Failure) -> [FoundItem] {
            try keeper.use(action, for: program, cancellation)
        }
    }

    func isLocked() throws(Failure) -> Bool { state.withLock { $0.isLocked } }
    func lock() throws(Failure) { setLocked(true) }
}

extension MemoryKeeper.State {
    fileprivate mutating func use(_ action: SecretAction) throws(Failure) -> [FoundItem] {
        time += 1
        switch action {
        case .store(let new, let replaces):
            guard collections.contains(where: { $0.identifier == new.collection }) else { throw Self.missing }
            let own = items.firstIndex {
                replaces && !$0.item.isForeign && $0.item.new.collection == new.collection
                    && $0.item.new.pairs == new.pairs
            }
            if let own {
                items[own].item.new = new
                items[own].item.modified = time
                return [found(items[own])]
            }
            lastNumber += 1
            items.append(("i\(lastNumber)", MemoryKeeper.Item(new: new, created: time, modified: time)))
            return [found(items[items.count - 1])]
        case .search(let collection, let pairs):
            return items.filter { entry in
                (collection == nil || entry.item.new.collection == collection) && entry.item.new.pairs.contains(pairs)
                    && (!entry.item.isForeign || pairs.namesMoreThanSchema)
            }.map { found($0) }
        case .everyItem: return items.map { found($0, isListed: true) }
        case .read(let identifiers):
            let known = Dictionary(uniqueKeysWithValues: items.map { ($0.identifier, $0) })
            return identifiers.compactMap { wanted in known[wanted].map { found($0, withSecret: true) } }
        case .change(let identifier, let changes):
            let index = try index(identifier)
            if let label = changes.label { items[index].item.new.label = label }
            if let pairs = changes.pairs { items[index].item.new.pairs = pairs }
            if let type = changes.contentType { items[index].item.new.contentType = type }
            if let secret = changes.secret { items[index].item.new.secret = secret }
            items[index].item.modified = time
            return [found(items[index])]
        case .delete(let identifier):
            items.remove(at: try index(identifier))
            return []
        case .collections: return collections.map(found)
        case .createCollection(let label):
            lastNumber += 1
            collections.append(("c-\(lastNumber)", label))
            return [found(collections[collections.count - 1])]
        case .renameCollection(let identifier, let label):
            guard let index = collections.firstIndex(where: { $0.identifier == identifier }) else { throw Self.missing }
            collections[index].label = label
            return []
        case .deleteCollection(let identifier):
            guard let index = collections.firstIndex(where: { $0.identifier == identifier }) else { throw Self.missing }
            collections.remove(at: index)
            items.removeAll { $0.item.new.collection == identifier }
            return []
        case .unlock:
            isLocked = false
            return []
        case .answers: return []
        case .forgetAnswer, .protectNew, .protectItem: throw Failure(.unimplemented)
        }
    }

    private static var missing: Failure { Failure(.itemNotFound, "There is no such item.") }

    private func index(_ identifier: String) throws(Failure) -> Int {
        guard let index = items.firstIndex(where: { $0.identifier == identifier && !$0.item.isForeign }) else {
            throw Self.missing
        }
        return index
    }

    private func found(_ collection: (identifier: String, label: String)) -> FoundItem {
        var attributes = Attributes()
        attributes[.identifier] = .text(collection.identifier)
        attributes[.label] = .text(collection.label)
        attributes[.creationDate] = .date(1_600_000_000_000_000)
        attributes[.modificationDate] = .date(1_600_000_001_000_000)
        return FoundItem(itemClass: .secret, attributes: attributes)
    }

    private func found(
        _ entry: (identifier: String, item: MemoryKeeper.Item), withSecret: Bool = false, isListed: Bool = false
    ) -> FoundItem {
        let new = entry.item.new
        var attributes = Attributes()
        attributes[.identifier] = .text(entry.identifier)
        attributes[.collection] = .text(new.collection)
        guard !entry.item.isForeign || withSecret || isListed else {
            return FoundItem(itemClass: .secret, attributes: attributes)
        }
        attributes[.label] = .text(new.label)
        attributes[.contentType] = .text(new.contentType)
        attributes[.pairs] = .data(new.pairs.bytes)
        attributes[.creationDate] = .date(entry.item.created * 1_000_000)
        attributes[.modificationDate] = .date(entry.item.modified * 1_000_000)
        return FoundItem(
            itemClass: .secret, attributes: attributes, accessControl: isLocked ? nil : AccessControl(),
            secret: withSecret ? new.secret : nil)
    }
}
