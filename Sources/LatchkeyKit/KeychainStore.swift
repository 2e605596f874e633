// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LocalAuthentication
import Security

/// Passwords, tokens and other short secrets in the keychain.
///
///     let store = KeychainStore()
///     let token = KeychainEntry.password(service: "example.com", account: "ada")
///     try store.store("s3cret", in: token, protection: .currentBiometry)
///     let read = try store.string(of: token, prompt: .asking("Log in"))
///
/// The functions of this file block, also while a prompt is up: not to be called on a thread that draws. In
/// asynchronous code the functions of the same names with `await` are chosen, which block no thread of a pool.
public struct KeychainStore: Sendable {
    private let accessGroup: String?

    /// The keychain of the app.
    ///
    /// - Parameter accessGroup: the group whose items are meant; nil for the app's own.
    public init(accessGroup: String? = nil) { self.accessGroup = accessGroup }

    // MARK: - Data

    /// Keeps a value: adds the item or changes the one there is. An empty value deletes it.
    ///
    /// An item that is there and demands a proof is changed only after the person was asked.
    ///
    /// - Parameters:
    ///   - data: at most 1 MiB.
    ///   - entry: which item.
    ///   - protection: when it can be read, and by whom; also an item that is there gets it.
    ///   - label: the name that people see in lists of items; nil leaves it as it is.
    ///   - prompt: how the person is asked.
    /// - Throws: `KeychainError`; the item is then as it was.
    public func store(
        _ data: Data, in entry: KeychainEntry, protection: KeychainProtection = .standard, label: String? = nil,
        prompt: KeychainPrompt = .standard
    ) throws(KeychainError) {
        guard !data.isEmpty else {
            try remove(entry)
            return
        }
        var changes = try protection.attributes()
        changes[kSecValueData as String] = data
        if let label { changes[kSecAttrLabel as String] = label }
        let query = try query(entry, prompt)
        // Looking first, since a read is cheaper than a write that is refused. The item may come or go between the two
        // calls, by another program's hand; then the other call is right.
        var exists = try contains(entry)
        for _ in 0..<8 {
            let status =
                if exists {
                    SecItemUpdate(query as CFDictionary, changes as CFDictionary)
                } else {
                    SecItemAdd(query.merging(changes) { $1 } as CFDictionary, nil)
                }
            guard status == (exists ? errSecItemNotFound : errSecDuplicateItem) else { return try check(status) }
            exists.toggle()
        }
        throw KeychainError(status: errSecDuplicateItem)
    }

    /// Keeps a value where there is none; one that is there stays as it is. Of two programs that do this at once, one
    /// succeeds.
    ///
    /// - Throws: `KeychainError`, of kind `alreadyThere` when there is such an item.
    public func add(
        _ data: Data, in entry: KeychainEntry, protection: KeychainProtection = .standard, label: String? = nil,
        prompt: KeychainPrompt = .standard
    ) throws(KeychainError) {
        var item = try query(entry, prompt).merging(try protection.attributes()) { $1 }
        item[kSecValueData as String] = data
        if let label { item[kSecAttrLabel as String] = label }
        try check(SecItemAdd(item as CFDictionary, nil))
    }

    /// Reads a value.
    ///
    /// - Parameters:
    ///   - entry: which item.
    ///   - prompt: how the person is asked, when the item demands it.
    /// - Throws: `KeychainError`, of kind `itemNotFound` when there is no such item.
    public func data(of entry: KeychainEntry, prompt: KeychainPrompt = .standard) throws(KeychainError) -> Data {
        var query = try query(entry, prompt)
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var result: CFTypeRef?
        try check(SecItemCopyMatching(query as CFDictionary, &result))
        guard let data = result as? Data else {
            throw KeychainError(.undecodable, status: errSecDecode, message: "The item holds no value.")
        }
        return data
    }

    /// Deletes an item; one that is not there is no error. Asks nobody.
    public func remove(_ entry: KeychainEntry) throws(KeychainError) {
        let status = SecItemDelete(try query(entry, .standard) as CFDictionary)
        if status != errSecItemNotFound { try check(status) }
    }

    /// Whether there is such an item; asks nobody.
    public func contains(_ entry: KeychainEntry) throws(KeychainError) -> Bool {
        let status = SecItemCopyMatching(try query(entry, .never) as CFDictionary, nil)
        switch status {
        // An item that demands a proof, or the device's unlock, says that somebody would have to be asked.
        case errSecSuccess, errSecInteractionNotAllowed: return true
        case errSecItemNotFound: return false
        default: throw KeychainError(status: status)
        }
    }

    /// The accounts of a service, in the order they were added. Items that demand a proof are left out: they would ask.
    public func accounts(service: String) throws(KeychainError) -> [String] {
        var query = KeychainEntry.base
        query[kSecClass as String] = kSecClassGenericPassword
        query[kSecAttrService as String] = service
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        query[kSecReturnAttributes as String] = true
        query[kSecUseAuthenticationUI as String] = kSecUseAuthenticationUISkip
        if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        guard status != errSecItemNotFound else { return [] }
        try check(status)
        return (result as? [[String: Any]] ?? []).compactMap { $0[kSecAttrAccount as String] as? String }
    }

    // MARK: - Parts

    private func query(_ entry: KeychainEntry, _ prompt: KeychainPrompt) throws(KeychainError) -> [String: Any] {
        var query = entry.query
        if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
        if prompt.needsContext { query[kSecUseAuthenticationContext as String] = try prompt.makeContext().context }
        return query
    }

    private func check(_ status: OSStatus) throws(KeychainError) {
        guard status == errSecSuccess else { throw KeychainError(status: status) }
    }
}
