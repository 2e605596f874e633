// SPDX-License-Identifier: Apache-2.0

import Security

/// The durable form of a right (behaviour RI-03). A right consists of a record that every program in the app's access
/// group can read, a key of the Secure Enclave and an optional secret; the right's access control protects the key and
/// the secret.
struct RightRecord: Sendable {
    private static let service = "LARightStore"
    private static let secretService = "LARightStore secret"

    let identifier: String
    let key: Data
    /// Hash of the enrolled set that `biometryCurrentSet` was created with.
    let set: Data?
    let flags: SecAccessControlCreateFlags
    let tag: Int
    /// The account of the secret's item; nil when no secret was saved.
    let secretName: String?

    /// The value of the record's item, as JSON.
    private struct Contents: Codable {
        var key: Data
        var set: Data?
        var rule: UInt
        var tag: Int
        var secretName: String?
    }

    // MARK: - Saving

    /// Creates the key, stores the secret and then the record, which makes the right visible.
    ///
    /// When two calls save under the same identifier at the same time, one fails and removes its key and its secret.
    static func save(
        _ right: LARight, _ identifier: String, _ secret: Data?, _ context: LAContext
    ) throws -> RightRecord {
        if try contents(identifier, context) != nil { throw failure(errSecDuplicateItem) }
        let control = try accessControl(right.requirement.flags, forKey: true)
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
            flags: right.requirement.flags, tag: right.tag, secretName: secret.map { _ in UUID().uuidString })
        do {
            if let secret { try record.store(secret, context) }
            let contents = Contents(
                key: record.key, set: record.set, rule: record.flags.rawValue, tag: record.tag,
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

    /// Stores the secret under a random account that the record contains, so that two concurrent saves do not share a
    /// secret.
    private func store(_ secret: Data, _ context: LAContext) throws {
        let control = try Self.accessControl(flags, forKey: false)
        let more: [CFString: Any] = [
            kSecValueData: secret, kSecAttrAccessControl: control, kSecAttrGeneric: Data(identifier.utf8),
        ]
        try Self.check(SecItemAdd(Self.query(Self.secretService, secretName ?? identifier, context, more), nil))
    }

    /// Loads the record of an identifier; nil when there is none.
    static func load(_ identifier: String, _ context: LAContext) throws -> RightRecord? {
        try contents(identifier, context).map {
            RightRecord(
                identifier: identifier, key: $0.key, set: $0.set, flags: SecAccessControlCreateFlags(rawValue: $0.rule),
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

    // MARK: - Protected contents

    /// The private key, to be used with the proofs of `context`.
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

    /// Removes the key, the secret and then the record, so that an interrupted removal can be repeated.
    ///
    /// The key and the secret are found by the attributes that `save` gave them, not by the contents of the record.
    /// This also removes the leftovers of an interrupted `save`, and a forged record can neither preserve its own key
    /// nor delete the key of another right.
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
        _ flags: SecAccessControlCreateFlags, forKey isKey: Bool
    ) throws -> SecAccessControl {
        var error: Unmanaged<CFError>?
        let flags = isKey ? flags.union(.privateKeyUsage) : flags
        let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, flags, &error)
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
        return NSError(domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: words])
    }
}
