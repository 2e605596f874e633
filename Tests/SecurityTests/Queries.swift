// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security

/// A dictionary as apps write it.
typealias Query = [String: Any]

extension Query {
    /// The class, and an account and service where they are given.
    static func password(_ account: String? = nil, service: String? = nil) -> Query {
        var query: Query = [kSecClass as String: kSecClassGenericPassword]
        if let account { query[kSecAttrAccount as String] = account }
        if let service { query[kSecAttrService as String] = service }
        return query
    }

    /// The same with one entry more.
    func with(_ key: CFString, _ value: Any) -> Query { merging([key as String: value]) { $1 } }

    /// The same with a secret.
    func secret(_ text: String = "secret") -> Query { with(kSecValueData, Data(text.utf8)) }

    /// The same under a rule that has to be a valid one.
    func under(
        _ flags: SecAccessControlCreateFlags, _ protection: CFString = kSecAttrAccessibleWhenUnlocked
    ) -> Query {
        with(kSecAttrAccessControl, SecAccessControlCreateWithFlags(nil, protection, flags, nil) as Any)
    }

    /// The same, asking for every match.
    var all: Query { with(kSecMatchLimit, kSecMatchLimitAll) }
    /// The same, asking for the secret.
    var data: Query { with(kSecReturnData, true) }
    /// The same, asking for attributes.
    var attributes: Query { with(kSecReturnAttributes, true) }
    /// The same, asking for a persistent reference.
    var reference: Query { with(kSecReturnPersistentRef, true) }
}

/// Adds an item and drops what it returns.
func add(_ query: Query) -> OSStatus { SecItemAdd(query as CFDictionary, nil) }

/// Adds an item and gives what it returns.
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

/// Whether an item is there, and what keeps it from being read.
func exists(_ query: Query) -> OSStatus { SecItemCopyMatching(query as CFDictionary, nil) }

/// Changes items.
func update(_ query: Query, _ changes: Query) -> OSStatus {
    SecItemUpdate(query as CFDictionary, changes as CFDictionary)
}

/// Deletes items.
func delete(_ query: Query) -> OSStatus { SecItemDelete(query as CFDictionary) }
