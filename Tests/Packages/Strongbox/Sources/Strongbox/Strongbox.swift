// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Strings, data and Codable values under the keys of one service.
public final class Strongbox {
    /// The service of every item.
    public let service: String
    /// When items written from now on can be read.
    public var accessibility: Accessibility = .afterFirstUnlock
    /// The authentication that reading items written from now on requires; nil for none.
    public var protection: Protection?

    /// A box for `service`.
    public init(service: String) { self.service = service }

    /// The string under `key`; setting nil removes it.
    public subscript(key: String) -> String? {
        get { (try? data(for: key)).flatMap { $0.flatMap { String(data: $0, encoding: .utf8) } } }
        set {
            if let newValue {
                try? set(Data(newValue.utf8), for: key)
            } else {
                try? remove(key)
            }
        }
    }

    /// Writes `data` under `key`, replacing an existing item.
    public func set(_ data: Data, for key: String) throws {
        var item = query(key)
        item[kSecValueData as String] = data
        if let protection {
            item[kSecAttrAccessControl as String] = try protection.makeAccessControl(accessibility)
        } else {
            item[kSecAttrAccessible as String] = accessibility.rawValue
        }
        var status = SecItemAdd(item as CFDictionary, nil)
        if status == errSecDuplicateItem {
            let changes: [CFString: Any] = [kSecValueData: data]
            status = SecItemUpdate(query(key) as CFDictionary, changes as CFDictionary)
        }
        guard status == errSecSuccess else { throw StrongboxError(status: status) }
    }

    /// The data under `key`, or nil if there is none.
    public func data(for key: String) throws -> Data? {
        var query = query(key)
        query[kSecReturnData as String] = kCFBooleanTrue
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var result: AnyObject?
        let status = withUnsafeMutablePointer(to: &result) {
            SecItemCopyMatching(query as CFDictionary, UnsafeMutablePointer($0))
        }
        switch status {
        case errSecSuccess: return result as? Data
        case errSecItemNotFound: return nil
        default: throw StrongboxError(status: status)
        }
    }

    /// Removes the item under `key`, if it exists.
    public func remove(_ key: String) throws {
        let status = SecItemDelete(query(key) as CFDictionary)
        guard status == noErr || status == errSecItemNotFound else { throw StrongboxError(status: status) }
    }

    /// Removes everything in the box.
    public func removeAll() throws {
        let status = SecItemDelete(query(nil) as CFDictionary)
        guard status == noErr || status == errSecItemNotFound else { throw StrongboxError(status: status) }
    }

    /// The keys in the box, sorted.
    public func keys() throws -> [String] {
        try attributes().compactMap { $0[kSecAttrAccount as String] as? String }.sorted()
    }

    /// Value and attributes of every item, as dictionaries with mixed keys.
    public func attributes() throws -> [[String: Any]] {
        let query: [AnyHashable: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecMatchLimit: kSecMatchLimitAll,
            kSecReturnAttributes: true,
        ]
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        guard status != errSecItemNotFound else { return [] }
        guard status == errSecSuccess, let items = result as? [[String: Any]] else {
            throw StrongboxError(status: status)
        }
        return items
    }

    private func query(_ key: String?) -> [String: Any] {
        var query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
        ]
        if let key { query[String(kSecAttrAccount)] = key }
        return query
    }
}
