// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication
import Security

/// A P-256 key pair whose private key never leaves the Secure Enclave.
///
///     let pair = try EnclaveKeyPair.create(tag: "com.example.login")
///     register(pair.publicKeyDER)
///     let proof = try await BiometricAuth().authenticate(.biometry(reason: "Log in"))
///     let signature = try await pair.sign(nonce, prompt: proof)
///
/// The value contains only the tag and the public key. The synchronous functions block, also while a prompt is shown;
/// the asynchronous ones suspend without blocking a thread of the pool. Apple: `SecKey` with
/// `kSecAttrTokenIDSecureEnclave`.
public struct EnclaveKeyPair: Hashable, Sendable {
    /// The name of the key in the keychain.
    public let tag: String
    /// The public key in X9.63 form: 04 ‖ X ‖ Y, 65 bytes.
    public let publicKey: Data

    // MARK: - Creating and finding

    /// Creates a pair and stores its private key in the keychain.
    ///
    /// Blocks. Prompts only on Linux and only for the passcode: when the pair is available only with a passcode, and
    /// the passcode was not entered since the daemon started. Apple: `SecKeyCreateRandomKey`.
    ///
    /// - Parameters:
    ///   - tag: the name of the pair; not used by another pair of this app.
    ///   - protection: the proof that each use of the private key requires; `.privateKeyUsage` is added.
    /// - Returns: the new pair.
    /// - Throws: `KeychainError`: `alreadyThere` when there is a pair with this tag, `notAvailable` without a Secure
    ///   Enclave, `badParameter` for a protection whose constraints contradict each other.
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

    /// Creates a pair as `create(tag:protection:)` does, without blocking a thread of the pool while it prompts.
    package static func createSuspending(
        tag: String, protection: KeychainProtection
    ) async throws(KeychainError) -> EnclaveKeyPair {
        try await BlockingExecutor.run { () throws(KeychainError) in
            try create(tag: tag, protection: protection)
        }
    }

    /// Finds the pair that was created with a tag.
    ///
    /// Blocks for a few round trips to the system; never prompts. Apple: `SecItemCopyMatching`.
    ///
    /// - Parameter tag: the name that the pair was created with.
    /// - Returns: the pair; nil when there is none with this tag.
    /// - Throws: `KeychainError` when the keychain cannot be used.
    public static func find(tag: String) throws(KeychainError) -> EnclaveKeyPair? {
        do throws(KeychainError) {
            return EnclaveKeyPair(tag: tag, publicKey: try publicKey(of: privateKey(tag, .never)))
        } catch {
            guard error.kind == .itemNotFound else { throw error }
            return nil
        }
    }

    /// Deletes the private key of a pair. Data that was encrypted for it can no longer be decrypted.
    ///
    /// Blocks for one round trip to the system; never prompts. Apple: `SecItemDelete`.
    ///
    /// - Parameter tag: the name of the pair; one that does not exist is not an error.
    /// - Throws: `KeychainError` when the keychain cannot be used.
    public static func remove(tag: String) throws(KeychainError) {
        let status = SecItemDelete(query(tag) as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw KeychainError(status: status) }
    }

    // MARK: - The public key

    /// The public key as SubjectPublicKeyInfo in DER, 91 bytes, as servers and OpenSSL read it (RFC 5480, section 2).
    public var publicKeyDER: Data {
        // SEQUENCE { SEQUENCE { id-ecPublicKey, prime256v1 }, BIT STRING of 65 bytes }.
        let head: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
            0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ]
        return Data(head) + publicKey
    }

    /// The public key as SubjectPublicKeyInfo in PEM (RFC 7468, section 13).
    public var publicKeyPEM: String {
        let text = publicKeyDER.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n"
    }

    // MARK: - Operations

    /// Signs a message with ECDSA and SHA-256.
    ///
    /// Blocks, also while a prompt is shown; call it on a thread that may wait. Apple: `SecKeyCreateSignature` with
    /// `ecdsaSignatureMessageX962SHA256`.
    ///
    /// - Parameters:
    ///   - message: of any length, such as the nonce of a server.
    ///   - prompt: how the user is asked; a proof of `BiometricAuth` does not prompt again.
    /// - Returns: the signature in DER (X9.62).
    /// - Throws: `KeychainError`: `itemNotFound` when the pair was deleted or replaced, `cancelled` when the user
    ///   cancelled, `authenticationFailed`, `interactionNotAllowed` when a prompt cannot be shown.
    public func sign(_ message: Data, prompt: KeychainPrompt = .standard) throws(KeychainError) -> Data {
        let key = try privateKey(prompt)
        var error: Unmanaged<CFError>?
        guard
            let signature = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, &error)
        else { throw KeychainError(ofKey: error) }
        return signature as Data
    }

    /// Returns whether a signature of a message was created with this pair.
    ///
    /// Uses only the public key: computes in the process, without the keychain and without a prompt. Apple:
    /// `SecKeyVerifySignature` with `ecdsaSignatureMessageX962SHA256`.
    ///
    /// - Parameters:
    ///   - signature: the signature in DER (X9.62).
    ///   - message: the message that was signed.
    /// - Returns: true for a valid signature.
    public func verify(_ signature: Data, of message: Data) -> Bool {
        guard let key = try? importedKey() else { return false }
        return SecKeyVerifySignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, signature as CFData, nil)
    }

    /// Encrypts data for this pair with ECIES and AES-GCM.
    ///
    /// Uses only the public key: computes in the process, without the keychain and without a prompt. Apple:
    /// `SecKeyCreateEncryptedData` with `eciesEncryptionStandardX963SHA256AESGCM`.
    ///
    /// - Parameter data: the plaintext.
    /// - Returns: the ciphertext, for `decrypt`.
    /// - Throws: `KeychainError` when the data cannot be encrypted.
    public func encrypt(_ data: Data) throws(KeychainError) -> Data {
        var error: Unmanaged<CFError>?
        let sealed = SecKeyCreateEncryptedData(
            try importedKey(), .eciesEncryptionStandardX963SHA256AESGCM, data as CFData, &error)
        guard let sealed else { throw KeychainError(ofKey: error) }
        return sealed as Data
    }

    /// Decrypts a ciphertext of `encrypt`.
    ///
    /// Blocks, also while a prompt is shown; call it on a thread that may wait. Apple: `SecKeyCreateDecryptedData`
    /// with `eciesEncryptionStandardX963SHA256AESGCM`.
    ///
    /// - Parameters:
    ///   - data: the whole ciphertext; a modified one is rejected.
    ///   - prompt: how the user is asked; a proof of `BiometricAuth` does not prompt again.
    /// - Returns: the plaintext.
    /// - Throws: `KeychainError`: `itemNotFound` when the pair was deleted or replaced, `cancelled` when the user
    ///   cancelled, `authenticationFailed`, `interactionNotAllowed` when a prompt cannot be shown.
    public func decrypt(_ data: Data, prompt: KeychainPrompt = .standard) throws(KeychainError) -> Data {
        let key = try privateKey(prompt)
        var error: Unmanaged<CFError>?
        let opened = SecKeyCreateDecryptedData(key, .eciesEncryptionStandardX963SHA256AESGCM, data as CFData, &error)
        guard let opened else { throw KeychainError(ofKey: error) }
        return opened as Data
    }

    // MARK: - Asynchronous operations

    /// Signs a message with ECDSA and SHA-256, without blocking a thread of the pool.
    ///
    /// Cancelling the task dismisses the prompt, unless `prompt` contains a context of the caller. Apple:
    /// `SecKeyCreateSignature` with `ecdsaSignatureMessageX962SHA256`.
    ///
    /// - Parameters:
    ///   - message: of any length, such as the nonce of a server.
    ///   - prompt: how the user is asked; a proof of `BiometricAuth` does not prompt again.
    /// - Returns: the signature in DER (X9.62).
    /// - Throws: the `KeychainError` that the synchronous form throws.
    public func sign(_ message: Data, prompt: KeychainPrompt = .standard) async throws(KeychainError) -> Data {
        try await KeychainStore().waiting(prompt) { (prompt) throws(KeychainError) in
            try sign(message, prompt: prompt)
        }
    }

    /// Decrypts a ciphertext of `encrypt`, without blocking a thread of the pool.
    ///
    /// Cancelling the task dismisses the prompt, unless `prompt` contains a context of the caller. Apple:
    /// `SecKeyCreateDecryptedData` with `eciesEncryptionStandardX963SHA256AESGCM`.
    ///
    /// - Parameters:
    ///   - data: the whole ciphertext; a modified one is rejected.
    ///   - prompt: how the user is asked; a proof of `BiometricAuth` does not prompt again.
    /// - Returns: the plaintext.
    /// - Throws: the `KeychainError` that the synchronous form throws.
    public func decrypt(_ data: Data, prompt: KeychainPrompt = .standard) async throws(KeychainError) -> Data {
        try await KeychainStore().waiting(prompt) { (prompt) throws(KeychainError) in
            try decrypt(data, prompt: prompt)
        }
    }

    // MARK: - Queries

    private static func query(_ tag: String) -> [String: Any] {
        var query = KeychainEntry.base
        query[kSecClass as String] = kSecClassKey
        query[kSecAttrApplicationTag as String] = Data(tag.utf8)
        query[kSecAttrTokenID as String] = kSecAttrTokenIDSecureEnclave
        return query
    }

    /// The private key of this pair; throws `itemNotFound` when another pair was created with the same tag since.
    private func privateKey(_ prompt: KeychainPrompt) throws(KeychainError) -> SecKey {
        let key = try Self.privateKey(tag, prompt)
        guard try Self.publicKey(of: key) == publicKey else { throw KeychainError(status: errSecItemNotFound) }
        return key
    }

    private static func privateKey(_ tag: String, _ prompt: KeychainPrompt) throws(KeychainError) -> SecKey {
        var query = query(tag)
        query[kSecReturnRef as String] = true
        // The key retains the context, and prompts through it when it is used.
        query[kSecUseAuthenticationContext as String] = try prompt.makeContext().context
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        guard status == errSecSuccess else { throw KeychainError(status: status) }
        guard let result, CFGetTypeID(result) == SecKeyGetTypeID() else { throw KeychainError(status: errSecDecode) }
        // A conditional cast to a Core Foundation type is an error on Apple systems. The type was checked above.
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
    /// Converts the error of a `SecKey` function, which has the domain of the keychain or of LocalAuthentication.
    fileprivate init(ofKey error: Unmanaged<CFError>?) {
        guard let error = error?.takeRetainedValue() as (any Error)? else {
            self.init(.other, status: errSecParam, message: nil)
            return
        }
        let words = error.localizedDescription
        guard let authentication = (error as? LAError).map({ AuthenticationFailure($0) }) else {
            let status = OSStatus(truncatingIfNeeded: (error as NSError).code)
            self.init(KeychainError(status: status).kind, status: status, message: words)
            return
        }
        let (kind, status): (Kind, OSStatus) =
            switch authentication.code {
            case .userCancel?: (.cancelled, errSecUserCanceled)
            case .notInteractive?: (.interactionNotAllowed, errSecInteractionNotAllowed)
            default: (.authenticationFailed, errSecAuthFailed)
            }
        self.init(kind, status: status, message: words, authentication: authentication)
    }
}
