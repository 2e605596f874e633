// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// The collection `session`: items in the memory of the provider, which end with it.
///
/// They belong to the program that stored them: its file and, in a sandbox, its app. Other programs do not find them.
struct SessionCollection {
    static let mostItems = 256
    static let mostBytes = 4 << 20

    private struct Stored {
        var item: KeptItem
        let owner: AskingProcess.Owner
    }

    private var stored: [Stored] = []
    private var lastNumber: UInt64 = 0
    /// Seconds since 1970; the dates of the collection.
    let created: Int64
    private(set) var modified: Int64

    init() {
        created = Self.now
        modified = created
    }

    private static var now: Int64 { Int64(Glibc.time(nil)) }

    /// The items of a program that have all these pairs.
    func items(of program: AskingProcess, with pairs: SecretPairs = .none) -> [KeptItem] {
        guard let owner = program.owner else { return [] }
        return stored.filter { $0.owner == owner && $0.item.pairs.contains(pairs) }.map(\.item)
    }

    func item(_ identifier: String, of program: AskingProcess) -> KeptItem? {
        items(of: program).first { $0.identifier.hasBytes(of: identifier) }
    }

    /// Stores an item, or replaces the one with the same pairs.
    mutating func store(_ new: NewSecret, replaces: Bool, for program: AskingProcess) throws(SecretError) -> KeptItem {
        guard let owner = program.owner else { throw SecretError(.accessDenied, Caller.undetermined) }
        modified = Self.now
        if replaces, let index = stored.firstIndex(where: { $0.owner == owner && $0.item.pairs == new.pairs }) {
            let old = stored[index].item
            stored[index].item = item(new, old.identifier, created: old.created)
            return stored[index].item
        }
        let bytes = stored.reduce(new.secret.count) { $0 + ($1.item.secret?.count ?? 0) }
        guard stored.count < Self.mostItems, bytes <= Self.mostBytes else { throw .tooLong }
        lastNumber += 1
        let made = item(new, String(lastNumber), created: modified)
        stored.append(Stored(item: made, owner: owner))
        return made
    }

    mutating func change(
        _ identifier: String, _ changes: SecretChanges, for program: AskingProcess
    ) throws(SecretError) {
        let index = try index(identifier, of: program)
        let old = stored[index].item
        let changed = NewSecret(
            collection: old.collection, label: changes.label ?? old.label ?? "",
            contentType: changes.contentType ?? old.contentType, pairs: changes.pairs ?? old.pairs,
            secret: changes.secret ?? old.secret ?? SecretBytes([]))
        modified = Self.now
        stored[index].item = item(changed, identifier, created: old.created)
    }

    mutating func delete(_ identifier: String, for program: AskingProcess) throws(SecretError) {
        let index = try index(identifier, of: program)
        modified = Self.now
        stored.remove(at: index)
    }

    private func index(_ identifier: String, of program: AskingProcess) throws(SecretError) -> Int {
        guard let owner = program.owner,
            let index = stored.firstIndex(where: { $0.owner == owner && $0.item.identifier.hasBytes(of: identifier) })
        else { throw .noSuchObject }
        return index
    }

    private func item(_ new: NewSecret, _ identifier: String, created: Int64) -> KeptItem {
        KeptItem(
            collection: SecretObject.sessionCollection, identifier: identifier, label: new.label,
            contentType: new.contentType, pairs: new.pairs, created: created, modified: modified, secret: new.secret)
    }
}
