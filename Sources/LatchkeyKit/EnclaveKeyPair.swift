// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication
import Security

/// A P-256 pair whose private key never leaves the Secure Enclave: it signs and decrypts there, once the person has
/// proven who they are.
///
///     let pair = try EnclaveKeyPair.create(tag: "com.example.login")
///     register(pair.publicKeyDER)
///     let proof = try await BiometricAuth().authenticate(.biometry(reason: "Log in"))
///     let signature = try await pair.sign(nonce, prompt: proof)
///
/// The value holds the name and the public key alone. The functions of this file block, also while a prompt is up; the
/// asynchronous ones of the same names hold no thread of a pool.
public struct EnclaveKeyPair: Hashable, Sendable {
    /// The name under which the key is found again.
    public let tag: String
    /// The public key: X9.63, that is 04 ‖ X ‖ Y, 65 bytes.
    public let publicKey: Data

    // MARK: - Making and finding

    /// Makes a pair and keeps its private key. Asks nobody.
    ///
    /// - Parameters:
    ///   - tag: the name.
    ///   - protection: what has to be proven before each use; `.privateKeyUsage` is added.
    /// - Throws: `KeychainError`, of kind `alreadyThere` when there is a pair of that name.
    public static func create(
        tag: String, protection: KeychainProtection = .currentBiometry
    ) throws(KeychainError) -> EnclaveKeyPair {
        guard try find(tag: tag) == nil else { throw KeychainError(status: errSecDuplicateItem) }
        var protection = protection
        protection.constraints.insert(.privateKeyUsage)
        var half = try protection.attributes()
        half[kSecAttrIsPermanent as String] = true
        half[kSecAttrApplicationTag as String] = Data(tag.utf8)
        let parameters: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
            kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave, kSecPrivateKeyAttrs as String: half,
            kSecUseDataProtectionKeychain as String: true,
        ]
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, &error) else {
            throw KeychainError(ofKey: error)
        }
        return EnclaveKeyPair(tag: tag, publicKey: try publicKey(of: key))
    }

    /// Finds a pair; nil when there is none of that name. Asks nobody.
    public static func find(tag: String) throws(KeychainError) -> EnclaveKeyPair? {
        do throws(KeychainError) {
            return EnclaveKeyPair(tag: tag, publicKey: try publicKey(of: privateKey(tag, .never)))
        } catch {
            guard error.kind == .itemNotFound else { throw error }
            return nil
        }
    }

    /// Deletes the private key: nothing that was encrypted for it can be decrypted any more. Asks nobody; a pair that is
    /// not there is no error.
    public static func remove(tag: String) throws(KeychainError) {
        let status = SecItemDelete(query(tag) as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw KeychainError(status: status) }
    }

    // MARK: - The public key

    /// The public key as SubjectPublicKeyInfo: DER, 91 bytes, as servers and OpenSSL read it (RFC 5480, section 2).
    public var publicKeyDER: Data {
        // SEQUENCE { SEQUENCE { id-ecPublicKey, prime256v1 }, BIT STRING of 65 bytes }.
        let head: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
            0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ]
        return Data(head) + publicKey
    }

    /// The public key as PEM text (RFC 7468, section 13).
    public var publicKeyPEM: String {
        let text = publicKeyDER.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n"
    }

    // MARK: - Using

    /// Signs: ECDSA with SHA-256, as DER (X9.62).
    ///
    /// - Parameters:
    ///   - message: of any length, such as the nonce of a server.
    ///   - prompt: how the person is asked; a proof of `BiometricAuth` asks no second time.
    /// - Throws: `KeychainError`, of kind `itemNotFound` when the pair is gone.
    public func sign(_ message: Data, prompt: KeychainPrompt = .standard) throws(KeychainError) -> Data {
        let key = try privateKey(prompt)
        var error: Unmanaged<CFError>?
        guard
            let signature = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, &error)
        else { throw KeychainError(ofKey: error) }
        return signature as Data
    }

    /// Whether it is a signature of that message by this pair. Asks nobody, and needs no keychain.
    public func verify(_ signature: Data, of message: Data) -> Bool {
        guard let key = try? importedKey() else { return false }
        return SecKeyVerifySignature(
            key, .ecdsaSignatureMessageX962SHA256, message as CFData, signature as CFData, nil)
    }

    /// Encrypts for this pair: ECIES with AES-GCM. Asks nobody, and needs no keychain.
    public func encrypt(_ data: Data) throws(KeychainError) -> Data {
        var error: Unmanaged<CFError>?
        let sealed = SecKeyCreateEncryptedData(
            try importedKey(), .eciesEncryptionStandardX963SHA256AESGCM, data as CFData, &error)
        guard let sealed else { throw KeychainError(ofKey: error) }
        return sealed as Data
    }

    /// Decrypts what `encrypt` gave.
    ///
    /// - Parameters:
    ///   - data: all of it; a changed byte is refused.
    ///   - prompt: how the person is asked; a proof of `BiometricAuth` asks no second time.
    public func decrypt(_ data: Data, prompt: KeychainPrompt = .standard) throws(KeychainError) -> Data {
        let key = try privateKey(prompt)
        var error: Unmanaged<CFError>?
        let opened = SecKeyCreateDecryptedData(
            key, .eciesEncryptionStandardX963SHA256AESGCM, data as CFData, &error)
        guard let opened else { throw KeychainError(ofKey: error) }
        return opened as Data
    }

    // MARK: - Without holding a thread of the pool

    /// Signs, without holding a thread of the pool.
    public func sign(_ message: Data, prompt: KeychainPrompt = .standard) async throws(KeychainError) -> Data {
        try await KeychainStore().waiting(prompt) { (prompt) throws(KeychainError) in
            try sign(message, prompt: prompt)
        }
    }

    /// Decrypts, without holding a thread of the pool.
    public func decrypt(_ data: Data, prompt: KeychainPrompt = .standard) async throws(KeychainError) -> Data {
        try await KeychainStore().waiting(prompt) { (prompt) throws(KeychainError) in
            try decrypt(data, prompt: prompt)
        }
    }

    // MARK: - Parts

    private static func query(_ tag: String) -> [String: Any] {
        var query = KeychainEntry.base
        query[kSecClass as String] = kSecClassKey
        query[kSecAttrApplicationTag as String] = Data(tag.utf8)
        query[kSecAttrTokenID as String] = kSecAttrTokenIDSecureEnclave
        return query
    }

    /// The private key of this pair: one that was made under its name later is another.
    private func privateKey(_ prompt: KeychainPrompt) throws(KeychainError) -> SecKey {
        let key = try Self.privateKey(tag, prompt)
        guard try Self.publicKey(of: key) == publicKey else { throw KeychainError(status: errSecItemNotFound) }
        return key
    }

    private static func privateKey(_ tag: String, _ prompt: KeychainPrompt) throws(KeychainError) -> SecKey {
        var query = query(tag)
        query[kSecReturnRef as String] = true
        // The key keeps the context, and asks through it when it is used.
        query[kSecUseAuthenticationContext as String] = try prompt.makeContext().context
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        guard status == errSecSuccess else { throw KeychainError(status: status) }
        guard let result, CFGetTypeID(result) == SecKeyGetTypeID() else { throw KeychainError(status: errSecDecode) }
        // A conditional cast to a type of Core Foundation is an error on Apple systems. The line above has looked.
        // swift-format-ignore: NeverForceUnwrap
        return result as! SecKey
    }

    private static func publicKey(of key: SecKey) throws(KeychainError) -> Data {
        var error: Unmanaged<CFError>?
        guard let half = SecKeyCopyPublicKey(key), let data = SecKeyCopyExternalRepresentation(half, &error) else {
            throw KeychainError(ofKey: error)
        }
        return data as Data
    }

    private func importedKey() throws(KeychainError) -> SecKey {
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeyClass as String: kSecAttrKeyClassPublic,
        ]
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateWithData(publicKey as CFData, attributes as CFDictionary, &error) else {
            throw KeychainError(ofKey: error)
        }
        return key
    }
}

extension KeychainError {
    /// Takes what a function of `SecKey` gave: errors of the keychain and of LocalAuthentication alike.
    fileprivate init(ofKey error: Unmanaged<CFError>?) {
        guard let error = error?.takeRetainedValue() as (any Error)? else {
            self.init(.other, status: errSecParam, message: nil)
            return
        }
        let words = error.localizedDescription
        switch (error as? LAError)?.code {
        case nil:
            let status = OSStatus(truncatingIfNeeded: (error as NSError).code)
            self.init(KeychainError(status: status).kind, status: status, message: words)
        case .userCancel?: self.init(.cancelled, status: errSecUserCanceled, message: words)
        case .notInteractive?: self.init(.interactionNotAllowed, status: errSecInteractionNotAllowed, message: words)
        default: self.init(.authenticationFailed, status: errSecAuthFailed, message: words)
        }
    }
}
