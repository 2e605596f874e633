// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security

/// A query dictionary as apps write it.
typealias Query = [String: Any]

extension Query {
    /// A query for generic passwords, with account and service if given.
    static func password(_ account: String? = nil, service: String? = nil) -> Query {
        var query: Query = [kSecClass as String: kSecClassGenericPassword]
        if let account { query[kSecAttrAccount as String] = account }
        if let service { query[kSecAttrService as String] = service }
        return query
    }

    /// Returns the query with one more entry.
    func with(_ key: CFString, _ value: Any) -> Query { merging([key as String: value]) { $1 } }

    /// Returns the query with a secret.
    func secret(_ text: String = "secret") -> Query { with(kSecValueData, Data(text.utf8)) }

    /// Returns the query with an access control; the flags must be valid.
    func under(
        _ flags: SecAccessControlCreateFlags, _ protection: CFString = kSecAttrAccessibleWhenUnlocked
    ) -> Query {
        with(kSecAttrAccessControl, SecAccessControlCreateWithFlags(nil, protection, flags, nil) as Any)
    }

    /// The query for all matches.
    var all: Query { with(kSecMatchLimit, kSecMatchLimitAll) }
    /// The query for the secret.
    var data: Query { with(kSecReturnData, true) }
    /// The query for attributes.
    var attributes: Query { with(kSecReturnAttributes, true) }
    /// The query for a persistent reference.
    var reference: Query { with(kSecReturnPersistentRef, true) }
}

/// Adds an item and ignores its result.
func add(_ query: Query) -> OSStatus { SecItemAdd(query as CFDictionary, nil) }

/// Adds an item and returns its result.
func addReturning(_ query: Query) -> (status: OSStatus, result: CFTypeRef?) {
    var result: CFTypeRef?
    let status = SecItemAdd(query as CFDictionary, &result)
    return (status, result)
}

/// Finds items.
func find(_ query: Query) -> (status: OSStatus, result: CFTypeRef?) {
    var result: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    return (status, result)
}

/// The secret of one item as text, or nil.
func secret(_ query: Query) -> String? {
    (find(query.data).result as? Data).flatMap { String(data: $0, encoding: .utf8) }
}

/// Searches for an item without a result: the status tells whether it exists and could be read.
func exists(_ query: Query) -> OSStatus { SecItemCopyMatching(query as CFDictionary, nil) }

/// Updates items.
func update(_ query: Query, _ changes: Query) -> OSStatus {
    SecItemUpdate(query as CFDictionary, changes as CFDictionary)
}

/// Deletes items.
func delete(_ query: Query) -> OSStatus { SecItemDelete(query as CFDictionary) }
