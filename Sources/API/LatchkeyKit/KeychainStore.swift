// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LocalAuthentication
import Security

/// Stores passwords, tokens and other short secrets in the keychain.
///
///     let store = KeychainStore()
///     let token = KeychainEntry.password(service: "example.com", account: "ada")
///     try store.store("s3cret", in: token, protection: .currentBiometry)
///     let read = try store.string(of: token, prompt: .asking("Log in"))
///
/// The synchronous functions block, also while a prompt is shown: do not call them on the main thread. In
/// asynchronous code, `await` selects the functions of the same names that do not block a thread of the pool.
public struct KeychainStore: Sendable {
    private let accessGroup: String?

    /// Creates a store of the app's items.
    ///
    /// - Parameter accessGroup: the access group of the items; nil for the app's own. Apple: `kSecAttrAccessGroup`.
    public init(accessGroup: String? = nil) { self.accessGroup = accessGroup }

    // MARK: - Data

    /// Stores a value: adds the item, or changes it if it exists. Apple: `SecItemAdd`, `SecItemUpdate`.
    ///
    /// Blocks; prompts when the item exists and demands a proof. On Linux, also prompts for the passcode when the item
    /// is available only with a passcode, and the passcode was not entered since the daemon started.
    ///
    /// - Parameters:
    ///   - data: the value, at most 1 MiB. An empty value deletes the item.
    ///   - entry: the item.
    ///   - protection: when the item can be read, and which proof is required; replaces that of an existing item.
    ///   - label: the name of the item in lists; nil leaves it unchanged.
    ///   - description: what kind of item it is, in a few words for people, such as "encrypted note"; nil leaves it unchanged.
    ///     Apple: `kSecAttrDescription`.
    ///   - comment: what depends on the item, in a sentence for people; nil leaves it unchanged. Apple: `kSecAttrComment`.
    ///   - prompt: how the user is asked.
    /// - Throws: `KeychainError`: `cancelled`, `authenticationFailed` or `interactionNotAllowed` when the proof
    ///   cannot be obtained, `tooLarge`, `diskFull`, `notAvailable` when the keychain cannot be used, `notPermitted`
    ///   for another app's access group, `badParameter`. The item is unchanged then.
    public func store(
        _ data: Data, in entry: KeychainEntry, protection: KeychainProtection = .standard, label: String? = nil,
        description: String? = nil, comment: String? = nil, prompt: KeychainPrompt = .standard
    ) throws(KeychainError) {
        try store(
            data, in: entry, protection: protection, Self.names(label, description, comment), prompt: prompt)
    }

    private static func names(_ label: String?, _ description: String?, _ comment: String?) -> [String: Any] {
        let names = [
            kSecAttrLabel as String: label, kSecAttrDescription as String: description,
            kSecAttrComment as String: comment,
        ]
        return names.compactMapValues { $0 }
    }

    /// Stores a value with other attributes.
    func store(
        _ data: Data, in entry: KeychainEntry, protection: KeychainProtection, _ attributes: [String: Any],
        prompt: KeychainPrompt
    ) throws(KeychainError) {
        guard !data.isEmpty else {
            try remove(entry)
            return
        }
        var changes = try protection.attributes().merging(attributes) { $1 }
        changes[kSecValueData as String] = data
        let query = try query(entry, prompt)
        // Checks for the item first, since a read is cheaper than a rejected write. Another program may add or delete
        // the item between the two calls; then the loop tries the other call.
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

    /// Stores a value in a new item; an existing item stays unchanged. Apple: `SecItemAdd`.
    ///
    /// Blocks. Prompts only on Linux and only for the passcode: when the item is available only with a passcode, and
    /// the passcode was not entered since the daemon started. When two programs add the same item at the same time,
    /// only one call succeeds.
    ///
    /// - Parameters:
    ///   - data: the value, at most 1 MiB.
    ///   - entry: the item.
    ///   - protection: when the item can be read, and which proof is required.
    ///   - label: the name of the item in lists; nil for none.
    ///   - description: what kind of item it is, in a few words for people, such as "encrypted note"; nil for a password.
    ///     Apple: `kSecAttrDescription`.
    ///   - comment: what depends on the item, in a sentence for people; nil for nothing. Apple: `kSecAttrComment`.
    ///   - prompt: how the user is asked; provides the password for `KeychainProtection.applicationPassword`.
    /// - Throws: `KeychainError`: `alreadyThere` when the item exists, else as
    ///   `store(_:in:protection:label:description:comment:prompt:)`.
    public func add(
        _ data: Data, in entry: KeychainEntry, protection: KeychainProtection = .standard, label: String? = nil,
        description: String? = nil, comment: String? = nil, prompt: KeychainPrompt = .standard
    ) throws(KeychainError) {
        var item = try query(entry, prompt).merging(try protection.attributes()) { $1 }
        item.merge(Self.names(label, description, comment)) { $1 }
        item[kSecValueData as String] = data
        try check(SecItemAdd(item as CFDictionary, nil))
    }

    /// Reads a value. Apple: `SecItemCopyMatching`.
    ///
    /// Blocks, also while a prompt is shown.
    ///
    /// - Parameters:
    ///   - entry: the item.
    ///   - prompt: how the user is asked when the item demands a proof.
    /// - Returns: the value.
    /// - Throws: `KeychainError`: `itemNotFound` when there is no such item, `cancelled`, `authenticationFailed` or
    ///   `interactionNotAllowed` when the proof cannot be obtained, `notAvailable` when the keychain cannot be used,
    ///   `notPermitted` for another app's access group.
    public func data(of entry: KeychainEntry, prompt: KeychainPrompt = .standard) throws(KeychainError) -> Data {
        var query = try query(entry, prompt)
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var result: CFTypeRef?
        try check(SecItemCopyMatching(query as CFDictionary, &result))
        guard let data = result as? Data else {
            throw KeychainError(.undecodable, status: errSecDecode, message: "The item has no value.")
        }
        return data
    }

    /// Deletes an item. Apple: `SecItemDelete`.
    ///
    /// Blocks for one round trip to the system; never prompts.
    ///
    /// - Parameter entry: the item; one that does not exist is not an error.
    /// - Throws: `KeychainError` when the keychain cannot be used.
    public func remove(_ entry: KeychainEntry) throws(KeychainError) {
        let status = SecItemDelete(try query(entry, .standard) as CFDictionary)
        if status != errSecItemNotFound { try check(status) }
    }

    /// Returns whether an item exists. Apple: `SecItemCopyMatching`.
    ///
    /// Blocks for a few round trips to the system; never prompts.
    ///
    /// - Parameter entry: the item.
    /// - Returns: true when the item exists, also when reading it demands a proof or the device to be unlocked.
    /// - Throws: `KeychainError` when the keychain cannot be used.
    public func contains(_ entry: KeychainEntry) throws(KeychainError) -> Bool {
        let status = SecItemCopyMatching(try query(entry, .never) as CFDictionary, nil)
        switch status {
        // This code means that the item exists, but reading it demands a proof or that the device is unlocked.
        case errSecSuccess, errSecInteractionNotAllowed: return true
        case errSecItemNotFound: return false
        default: throw KeychainError(status: status)
        }
    }

    /// Returns what an app has attached to an item, which is no secret: nothing of the item is released, and no use of it is
    /// recorded. Apple: `kSecAttrGeneric`.
    ///
    /// - Returns: nil when the item has none.
    /// - Throws: `KeychainError`: `itemNotFound` when there is no such item, `interactionNotAllowed` when it cannot be read
    ///   without a prompt.
    func attachment(of entry: KeychainEntry) throws(KeychainError) -> Data? {
        var query = try query(entry, .never)
        query[kSecReturnAttributes as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var result: CFTypeRef?
        try check(SecItemCopyMatching(query as CFDictionary, &result))
        return (result as? [String: Any])?[kSecAttrGeneric as String] as? Data
    }

    /// Returns the accounts of a service, in the order in which they were added. Apple: `SecItemCopyMatching`.
    ///
    /// Blocks for one round trip to the system; never prompts: items that demand a proof are left out.
    ///
    /// - Parameter service: the service of generic passwords.
    /// - Returns: the accounts; empty when the service has none.
    /// - Throws: `KeychainError` when the keychain cannot be used.
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

    // MARK: - Queries

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
