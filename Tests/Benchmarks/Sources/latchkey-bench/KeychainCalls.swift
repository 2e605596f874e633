// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// The four calls under test, in batches. Only the calls are timed: all dictionaries are created before the first call,
/// and all results are checked after the last one.
enum KeychainCalls {
    static func add(_ items: [Item], _ samples: inout Samples) throws(BenchFailure) {
        let dictionaries = items.map { dictionary($0, [kSecValueData: $0.secret()]) }
        for attributes in dictionaries { try check(samples.time { SecItemAdd(attributes, nil) }, "SecItemAdd") }
    }

    static func read(_ items: [Item], version: Int = 0, _ samples: inout Samples) throws(BenchFailure) {
        let queries = items.map { dictionary($0, [kSecReturnData: true]) }
        var found = [CFTypeRef?](repeating: nil, count: items.count)
        for (index, query) in queries.enumerated() {
            try check(samples.time { SecItemCopyMatching(query, &found[index]) }, "SecItemCopyMatching")
        }
        for (item, found) in zip(items, found) where found as? Data != item.secret(version: version) {
            throw BenchFailure("SecItemCopyMatching returned a wrong secret.")
        }
    }

    static func update(_ items: [Item], version: Int, _ samples: inout Samples) throws(BenchFailure) {
        let queries = items.map { dictionary($0, [:]) }
        let changes = items.map { item in
            [kSecValueData as String: item.secret(version: version)] as [String: Any] as CFDictionary
        }
        for (query, changes) in zip(queries, changes) {
            try check(samples.time { SecItemUpdate(query, changes) }, "SecItemUpdate")
        }
    }

    static func delete(_ items: [Item], _ samples: inout Samples) throws(BenchFailure) {
        let queries = items.map { dictionary($0, [:]) }
        for query in queries { try check(samples.time { SecItemDelete(query) }, "SecItemDelete") }
    }

    /// Lists persistent references to all items and returns their number.
    static func list(_ samples: inout Samples) throws(BenchFailure) -> Int {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecMatchLimit as String: kSecMatchLimitAll,
            kSecReturnPersistentRef as String: true,
        ]
        var found: CFTypeRef?
        try check(samples.time { SecItemCopyMatching(query as CFDictionary, &found) }, "SecItemCopyMatching")
        return (found as? NSArray)?.count ?? 0
    }

    private static func dictionary(_ item: Item, _ more: [CFString: Any]) -> CFDictionary {
        var all: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: Item.service,
            kSecAttrAccount as String: item.account,
        ]
        for (key, value) in more { all[key as String] = value }
        return all as CFDictionary
    }

    private static func check(_ status: OSStatus, _ call: String) throws(BenchFailure) {
        guard status == errSecSuccess else {
            let words = SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "unknown"
            throw BenchFailure("\(call) returned \(status): \(words)")
        }
    }
}
