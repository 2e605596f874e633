// SPDX-License-Identifier: Apache-2.0

import Security

/// What is kept of a right: an item that anyone of the app may read, and beside it a key of the Secure Enclave and a
/// secret that nobody reads without what the right asks for (behaviour RI-03).
struct RightRecord: Sendable {
    private static let service = "LARightStore"
    private static let secretService = "LARightStore secret"

    let identifier: String
    /// Persistent reference of the key.
    let key: Data
    /// The enrolled set that `biometryCurrentSet` is bound to.
    let set: Data?
    let rule: SecAccessControlCreateFlags
    let tag: Int
    /// The account under which the secret is kept; nil when none was saved.
    let secretName: String?

    /// What rests in the item.
    private struct Contents: Codable {
        var key: Data
        var set: Data?
        var rule: UInt
        var tag: Int
        var secretName: String?
    }

    // MARK: - Keeping

    /// Makes the key, keeps the secret, and only then the record that makes them a right. Of two that are saved under
    /// one identifier at once, one is refused and leaves nothing behind.
    static func save(
        _ right: LARight, _ identifier: String, _ secret: Data?, _ context: LAContext
    ) throws -> RightRecord {
        if try contents(identifier, context) != nil { throw failure(errSecDuplicateItem) }
        let control = try accessControl(right.requirement.rule, forKey: true)
        var error: Unmanaged<CFError>?
        let made = SecKeyCreateRandomKey(
            [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
                kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecUseAuthenticationContext: context,
                kSecPrivateKeyAttrs: [
                    kSecAttrIsPermanent: true, kSecAttrAccessControl: control,
                    kSecAttrApplicationTag: keyTag(identifier), kSecAttrLabel: identifier,
                ] as [CFString: Any],
            ] as [CFString: Any] as CFDictionary, &error)
        guard let made else { throw error?.takeRetainedValue() ?? failure(errSecInternalComponent) }
        let record = RightRecord(
            identifier: identifier, key: try reference(of: made, context), set: right.requirement.set,
            rule: right.requirement.rule, tag: right.tag, secretName: secret.map { _ in UUID().uuidString })
        do {
            if let secret { try record.keep(secret, context) }
            let contents = Contents(
                key: record.key, set: record.set, rule: record.rule.rawValue, tag: record.tag,
                secretName: record.secretName)
            try check(
                SecItemAdd(
                    query(service, identifier, context, [kSecValueData: try JSONEncoder().encode(contents)]), nil))
            return record
        } catch {
            SecItemDelete([kSecValuePersistentRef: record.key, kSecUseAuthenticationContext: context] as CFDictionary)
            if let name = record.secretName { SecItemDelete(query(secretService, name, context)) }
            throw error
        }
    }

    /// Under a name of its own, which the record tells: of two that are saved at once, neither gets the other's secret.
    private func keep(_ secret: Data, _ context: LAContext) throws {
        let control = try Self.accessControl(rule, forKey: false)
        let more: [CFString: Any] = [
            kSecValueData: secret, kSecAttrAccessControl: control, kSecAttrGeneric: Data(identifier.utf8),
        ]
        try Self.check(SecItemAdd(Self.query(Self.secretService, secretName ?? identifier, context, more), nil))
    }

    /// What was kept under an identifier, or nil.
    static func load(_ identifier: String, _ context: LAContext) throws -> RightRecord? {
        try contents(identifier, context).map {
            RightRecord(
                identifier: identifier, key: $0.key, set: $0.set, rule: SecAccessControlCreateFlags(rawValue: $0.rule),
                tag: $0.tag, secretName: $0.secretName)
        }
    }

    private static func contents(_ identifier: String, _ context: LAContext) throws -> Contents? {
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query(service, identifier, context, [kSecReturnData: true]), &result)
        if status == errSecItemNotFound { return nil }
        try check(status)
        guard let data = result as? Data, let contents = try? JSONDecoder().decode(Contents.self, from: data) else {
            throw failure(errSecDecode)
        }
        return contents
    }

    // MARK: - What it guards

    /// The private key, used with what `context` has proven.
    func privateKey(_ context: LAContext) throws -> SecKey {
        var result: CFTypeRef?
        try Self.check(
            SecItemCopyMatching(
                [kSecValuePersistentRef: key, kSecReturnRef: true, kSecUseAuthenticationContext: context]
                    as [CFString: Any] as CFDictionary, &result))
        guard let result = result as? SecKey else { throw Self.failure(errSecItemNotFound) }
        return result
    }

    /// The secret; throws `errSecItemNotFound` when none was saved (behaviour RI-06).
    func secret(_ context: LAContext) throws -> Data {
        guard let secretName else { throw Self.failure(errSecItemNotFound) }
        var result: CFTypeRef?
        try Self.check(
            SecItemCopyMatching(Self.query(Self.secretService, secretName, context, [kSecReturnData: true]), &result))
        guard let data = result as? Data else { throw Self.failure(errSecItemNotFound) }
        return data
    }

    // MARK: - Removing

    /// Removes record, secret and key; the record last, so that what is cut off can be removed again.
    ///
    /// Key and secret go by what they were given when they were made, not by what the record says: so does what a save
    /// that was cut off has left, and a record that someone else wrote neither keeps its right nor takes another's key.
    static func remove(_ identifier: String, _ context: LAContext) throws {
        try check(SecItemCopyMatching(query(service, identifier, context), nil))
        let parts: [[CFString: Any]] = [
            [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: keyTag(identifier),
                kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
            ],
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: secretService,
                kSecAttrGeneric: Data(identifier.utf8),
            ],
        ]
        for part in parts {
            let status = SecItemDelete(part.merging([kSecUseAuthenticationContext: context]) { $1 } as CFDictionary)
            if status != errSecItemNotFound { try check(status) }
        }
        try check(SecItemDelete(query(service, identifier, context)))
    }

    /// Every identifier there is.
    static func identifiers(_ context: LAContext) throws -> [String] {
        var result: CFTypeRef?
        let status = SecItemCopyMatching(
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecMatchLimit: kSecMatchLimitAll,
                kSecReturnAttributes: true, kSecUseAuthenticationContext: context,
            ] as [CFString: Any] as CFDictionary, &result)
        if status == errSecItemNotFound { return [] }
        try check(status)
        return (result as? [[String: Any]] ?? []).compactMap { $0[kSecAttrAccount as String] as? String }
    }

    // MARK: - Keychain

    private static func keyTag(_ identifier: String) -> Data { Data((service + " " + identifier).utf8) }

    private static func query(
        _ service: String, _ identifier: String, _ context: LAContext, _ more: [CFString: Any] = [:]
    ) -> CFDictionary {
        let item: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: identifier,
            kSecUseAuthenticationContext: context,
        ]
        return item.merging(more) { $1 } as CFDictionary
    }

    private static func accessControl(
        _ rule: SecAccessControlCreateFlags, forKey isKey: Bool
    ) throws -> SecAccessControl {
        var error: Unmanaged<CFError>?
        let flags = isKey ? rule.union(.privateKeyUsage) : rule
        let control = SecAccessControlCreateWithFlags(
            nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, flags, &error)
        guard let control else { throw error?.takeRetainedValue() ?? failure(errSecParam) }
        return control
    }

    private static func reference(of key: SecKey, _ context: LAContext) throws -> Data {
        var result: CFTypeRef?
        try check(
            SecItemCopyMatching(
                [
                    kSecClass: kSecClassKey, kSecValueRef: key, kSecReturnPersistentRef: true,
                    kSecUseAuthenticationContext: context,
                ] as [CFString: Any] as CFDictionary, &result))
        guard let data = result as? Data else { throw failure(errSecItemNotFound) }
        return data
    }

    static func check(_ status: OSStatus) throws { if status != errSecSuccess { throw failure(status) } }

    static func failure(_ status: OSStatus) -> NSError {
        let words = SecCopyErrorMessageString(status, nil) as String? ?? ""
        return NSError(
            domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: words])
    }
}
