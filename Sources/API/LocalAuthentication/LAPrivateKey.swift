// SPDX-License-Identifier: Apache-2.0

public import Security

/// The private key of a saved right: P-256, in the Secure Enclave. Apple: `LAPrivateKey`.
///
/// Signing, decrypting and key exchange work while the right is authorized, and fail with
/// `LAError.authenticationFailed` otherwise. They never prompt. Completion handlers are called once, on a thread of
/// their own, never on the main thread.
public final class LAPrivateKey: NSObject, Sendable {
    private let right: Carried<LAPersistedRight>
    // A context for calls that need no proof. It is created here because the worker threads are outside the scope of a
    // simulated machine.
    private let reading = Carried(value: LAContext())

    init(_ right: LAPersistedRight) { self.right = Carried(value: right) }

    /// The public key of the pair. Apple: `LAPrivateKey.publicKey`.
    public var publicKey: LAPublicKey { LAPublicKey(right.value.record, reading) }

    /// Signs data and calls `handler` with the signature. Apple: `LAPrivateKey.sign(_:algorithm:completion:)`.
    ///
    /// - Parameters:
    ///   - data: the message, or its digest for an algorithm whose name contains `Digest`.
    ///   - algorithm: a signature algorithm of `SecKeyAlgorithm` for elliptic curves.
    ///   - handler: called with the signature and nil, or with nil and an error: `LAError.authenticationFailed` while
    ///     the right is not authorized, else an error of the keychain or of `SecKeyCreateSignature`. The signature is
    ///     DER for the X9.62 algorithms, and r ‖ s for the RFC 4754 algorithms.
    @preconcurrency
    public func sign(
        _ data: Data, algorithm: SecKeyAlgorithm, completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        detached(handler) { [self] in try signature(data, algorithm) }
    }

    /// Signs data and returns the signature. Apple: `LAPrivateKey.sign(_:algorithm:)`.
    ///
    /// Suspends without blocking a thread of the pool.
    ///
    /// - Parameters:
    ///   - data: the message, or its digest for an algorithm whose name contains `Digest`.
    ///   - algorithm: a signature algorithm of `SecKeyAlgorithm` for elliptic curves.
    /// - Returns: the signature: DER for the X9.62 algorithms, r ‖ s for the RFC 4754 algorithms.
    /// - Throws: `LAError.authenticationFailed` while the right is not authorized, else an error of the keychain or
    ///   of `SecKeyCreateSignature`.
    nonisolated(nonsending) public func sign(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await detached { [self] in try signature(data, algorithm) }
    }

    /// Returns whether the key supports a signature algorithm. Apple: `LAPrivateKey.canSign(using:)`.
    ///
    /// Blocks for a few round trips to the daemon; never prompts.
    ///
    /// - Parameter algorithm: the algorithm to test.
    /// - Returns: false for an unsupported algorithm, and when the key cannot be found or the daemon cannot be reached.
    public func canSign(using algorithm: SecKeyAlgorithm) -> Bool { can(.sign, algorithm) }

    /// Decrypts data and calls `handler` with the plaintext. Apple: `LAPrivateKey.decrypt(_:algorithm:completion:)`.
    ///
    /// - Parameters:
    ///   - data: a ciphertext of `LAPublicKey.encrypt`, unchanged.
    ///   - algorithm: the ECIES algorithm that it was encrypted with.
    ///   - handler: called with the plaintext and nil, or with nil and an error: `LAError.authenticationFailed` while
    ///     the right is not authorized, else an error of the keychain or of `SecKeyCreateDecryptedData`.
    @preconcurrency
    public func decrypt(
        _ data: Data, algorithm: SecKeyAlgorithm, completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        detached(handler) { [self] in try plaintext(data, algorithm) }
    }

    /// Decrypts data and returns the plaintext. Apple: `LAPrivateKey.decrypt(_:algorithm:)`.
    ///
    /// Suspends without blocking a thread of the pool.
    ///
    /// - Parameters:
    ///   - data: a ciphertext of `LAPublicKey.encrypt`, unchanged.
    ///   - algorithm: the ECIES algorithm that it was encrypted with.
    /// - Returns: the plaintext.
    /// - Throws: `LAError.authenticationFailed` while the right is not authorized, else an error of the keychain or
    ///   of `SecKeyCreateDecryptedData`.
    nonisolated(nonsending) public func decrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await detached { [self] in try plaintext(data, algorithm) }
    }

    /// Returns whether the key supports a decryption algorithm. Apple: `LAPrivateKey.canDecrypt(using:)`.
    ///
    /// Blocks for a few round trips to the daemon; never prompts.
    ///
    /// - Parameter algorithm: the algorithm to test.
    /// - Returns: false for an unsupported algorithm, and when the key cannot be found or the daemon cannot be reached.
    public func canDecrypt(using algorithm: SecKeyAlgorithm) -> Bool { can(.decrypt, algorithm) }

    /// Agrees on a shared secret and calls `handler` with it. Apple:
    /// `LAPrivateKey.exchangeKeys(publicKey:algorithm:parameters:completion:)`.
    ///
    /// - Parameters:
    ///   - publicKey: the peer's P-256 public key in X9.63 form, 65 bytes.
    ///   - algorithm: a key exchange algorithm of `SecKeyAlgorithm`.
    ///   - parameters: those of `SecKeyCopyKeyExchangeResult`, by `SecKeyKeyExchangeParameter`.
    ///   - handler: called with the shared secret and nil, or with nil and an error: `LAError.authenticationFailed`
    ///     while the right is not authorized, `errSecParam` for a malformed public key, else an error of the keychain
    ///     or of `SecKeyCopyKeyExchangeResult`.
    @preconcurrency
    public func exchangeKeys(
        publicKey: Data, algorithm: SecKeyAlgorithm, parameters: [AnyHashable: Any],
        completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        nonisolated(unsafe) let parameters = parameters as CFDictionary
        detached(handler) { [self] in try secret(publicKey, algorithm, parameters) }
    }

    /// Agrees on a shared secret and returns it. Apple: `LAPrivateKey.exchangeKeys(publicKey:algorithm:parameters:)`.
    ///
    /// Suspends without blocking a thread of the pool.
    ///
    /// - Parameters:
    ///   - publicKey: the peer's P-256 public key in X9.63 form, 65 bytes.
    ///   - algorithm: a key exchange algorithm of `SecKeyAlgorithm`.
    ///   - parameters: those of `SecKeyCopyKeyExchangeResult`, by `SecKeyKeyExchangeParameter`.
    /// - Returns: the shared secret.
    /// - Throws: `LAError.authenticationFailed` while the right is not authorized, `errSecParam` for a malformed
    ///   public key, else an error of the keychain or of `SecKeyCopyKeyExchangeResult`.
    nonisolated(nonsending) public func exchangeKeys(
        publicKey: Data, algorithm: SecKeyAlgorithm, parameters: [AnyHashable: Any]
    ) async throws -> Data {
        nonisolated(unsafe) let parameters = parameters as CFDictionary
        return try await detached { [self] in try secret(publicKey, algorithm, parameters) }
    }

    /// Returns whether the key supports a key exchange algorithm. Apple: `LAPrivateKey.canExchangeKeys(using:)`.
    ///
    /// Blocks for a few round trips to the daemon; never prompts.
    ///
    /// - Parameter algorithm: the algorithm to test.
    /// - Returns: false for an unsupported algorithm, and when the key cannot be found or the daemon cannot be reached.
    public func canExchangeKeys(using algorithm: SecKeyAlgorithm) -> Bool { can(.keyExchange, algorithm) }

    // MARK: - Blocking work

    private func can(_ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm) -> Bool {
        guard let key = try? right.value.record.privateKey(reading.value) else { return false }
        return SecKeyIsAlgorithmSupported(key, operation, algorithm)
    }

    private func signature(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        let key = try right.value.record.privateKey(try right.value.context())
        return try taken { SecKeyCreateSignature(key, algorithm, data as CFData, &$0) }
    }

    private func plaintext(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        let key = try right.value.record.privateKey(try right.value.context())
        return try taken { SecKeyCreateDecryptedData(key, algorithm, data as CFData, &$0) }
    }

    private func secret(_ peer: Data, _ algorithm: SecKeyAlgorithm, _ parameters: CFDictionary) throws -> Data {
        let key = try right.value.record.privateKey(try right.value.context())
        let attributes: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPublic,
        ]
        var error: Unmanaged<CFError>?
        guard let peer = SecKeyCreateWithData(peer as CFData, attributes as CFDictionary, &error) else {
            throw error?.takeRetainedValue() ?? RightRecord.failure(errSecParam)
        }
        return try taken { SecKeyCopyKeyExchangeResult(key, algorithm, peer, parameters, &$0) }
    }
}

/// The public key of a saved right. Apple: `LAPublicKey`.
///
/// Works whether or not the right is authorized, and never prompts. Completion handlers are called once, on a thread
/// of their own, never on the main thread.
public final class LAPublicKey: NSObject, Sendable {
    private let record: RightRecord
    private let reading: Carried<LAContext>

    init(_ record: RightRecord, _ reading: Carried<LAContext>) { (self.record, self.reading) = (record, reading) }

    /// Exports the key and calls `handler` with its bytes. Apple: `LAPublicKey.exportBytes(completion:)`.
    ///
    /// - Parameter handler: called with the key in X9.63 form (04 ‖ X ‖ Y, 65 bytes) and nil, or with nil and an
    ///   error of the keychain: `errSecItemNotFound` when the right was removed.
    @preconcurrency
    public func exportBytes(completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        detached(handler) { [self] in try external() }
    }

    /// The key in X9.63 form: 04 ‖ X ‖ Y, 65 bytes. Apple: `LAPublicKey.bytes`.
    ///
    /// Suspends without blocking a thread of the pool. Throws an error of the keychain: `errSecItemNotFound` when the
    /// right was removed.
    public var bytes: Data { get async throws { try await detached { [self] in try external() } } }

    /// Encrypts data for the private key and calls `handler` with the ciphertext. Apple:
    /// `LAPublicKey.encrypt(_:algorithm:completion:)`.
    ///
    /// - Parameters:
    ///   - data: the plaintext.
    ///   - algorithm: an ECIES algorithm of `SecKeyAlgorithm`.
    ///   - handler: called with the ciphertext and nil, or with nil and an error of the keychain or of
    ///     `SecKeyCreateEncryptedData`.
    @preconcurrency
    public func encrypt(
        _ data: Data, algorithm: SecKeyAlgorithm, completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        detached(handler) { [self] in try ciphertext(data, algorithm) }
    }

    /// Encrypts data for the private key and returns the ciphertext. Apple: `LAPublicKey.encrypt(_:algorithm:)`.
    ///
    /// Suspends without blocking a thread of the pool.
    ///
    /// - Parameters:
    ///   - data: the plaintext.
    ///   - algorithm: an ECIES algorithm of `SecKeyAlgorithm`.
    /// - Returns: the ciphertext.
    /// - Throws: an error of the keychain or of `SecKeyCreateEncryptedData`.
    nonisolated(nonsending) public func encrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await detached { [self] in try ciphertext(data, algorithm) }
    }

    /// Returns whether the key supports an encryption algorithm. Apple: `LAPublicKey.canEncrypt(using:)`.
    ///
    /// Blocks for a few round trips to the daemon; never prompts.
    ///
    /// - Parameter algorithm: the algorithm to test.
    /// - Returns: false for an unsupported algorithm, and when the key cannot be found or the daemon cannot be reached.
    public func canEncrypt(using algorithm: SecKeyAlgorithm) -> Bool { can(.encrypt, algorithm) }

    /// Verifies a signature and calls `handler` with the result. Apple:
    /// `LAPublicKey.verify(_:signature:algorithm:completion:)`.
    ///
    /// - Parameters:
    ///   - signedData: the message, or its digest for an algorithm whose name contains `Digest`.
    ///   - signature: the signature: DER for the X9.62 algorithms, r ‖ s for the RFC 4754 algorithms.
    ///   - algorithm: the signature algorithm.
    ///   - handler: called with nil for a valid signature, else with an error: `errSecVerifyFailed` for an invalid
    ///     signature, or an error of the keychain.
    @preconcurrency
    public func verify(
        _ signedData: Data, signature: Data, algorithm: SecKeyAlgorithm,
        completion handler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        detachedCall(handler) { [self] in try check(signedData, signature, algorithm) }
    }

    /// Verifies a signature. Apple: `LAPublicKey.verify(_:signature:algorithm:)`.
    ///
    /// Suspends without blocking a thread of the pool.
    ///
    /// - Parameters:
    ///   - signedData: the message, or its digest for an algorithm whose name contains `Digest`.
    ///   - signature: the signature: DER for the X9.62 algorithms, r ‖ s for the RFC 4754 algorithms.
    ///   - algorithm: the signature algorithm.
    /// - Throws: `errSecVerifyFailed` for an invalid signature, or an error of the keychain.
    nonisolated(nonsending) public func verify(
        _ signedData: Data, signature: Data, algorithm: SecKeyAlgorithm
    ) async throws {
        try await detached { [self] in try check(signedData, signature, algorithm) }
    }

    /// Returns whether the key supports a signature algorithm for verification. Apple: `LAPublicKey.canVerify(using:)`.
    ///
    /// Blocks for a few round trips to the daemon; never prompts.
    ///
    /// - Parameter algorithm: the algorithm to test.
    /// - Returns: false for an unsupported algorithm, and when the key cannot be found or the daemon cannot be reached.
    public func canVerify(using algorithm: SecKeyAlgorithm) -> Bool { can(.verify, algorithm) }

    // MARK: - Blocking work

    private func key() throws -> SecKey {
        guard let key = SecKeyCopyPublicKey(try record.privateKey(reading.value)) else {
            throw RightRecord.failure(errSecItemNotFound)
        }
        return key
    }

    private func can(_ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm) -> Bool {
        guard let key = try? key() else { return false }
        return SecKeyIsAlgorithmSupported(key, operation, algorithm)
    }

    private func external() throws -> Data {
        let key = try key()
        return try taken { SecKeyCopyExternalRepresentation(key, &$0) }
    }

    private func ciphertext(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        let key = try key()
        return try taken { SecKeyCreateEncryptedData(key, algorithm, data as CFData, &$0) }
    }

    private func check(_ data: Data, _ signature: Data, _ algorithm: SecKeyAlgorithm) throws {
        var error: Unmanaged<CFError>?
        guard SecKeyVerifySignature(try key(), algorithm, data as CFData, signature as CFData, &error) else {
            throw error?.takeRetainedValue() ?? RightRecord.failure(errSecVerifyFailed)
        }
    }
}

/// Converts a call that returns nil and an error into one that throws.
private func taken(_ call: (inout Unmanaged<CFError>?) -> CFData?) throws -> Data {
    var error: Unmanaged<CFError>?
    guard let data = call(&error) else { throw error?.takeRetainedValue() ?? RightRecord.failure(errSecParam) }
    return data as Data
}
