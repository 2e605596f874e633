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
