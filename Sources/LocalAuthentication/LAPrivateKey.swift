// SPDX-License-Identifier: Apache-2.0

public import Security

/// The private key of a right: P-256, in the Secure Enclave. Apple: `LAPrivateKey`.
///
/// Its operations need the right to be authorized and throw an `LAError` while it is not; those of the public key always
/// work. Completion handlers are called once, never on the main thread.
public final class LAPrivateKey: NSObject, Sendable {
    private let right: Carried<LAPersistedRight>
    // A simulated world in scope is not in scope on the threads that do the work.
    private let reading = Carried(value: LAContext())

    init(_ right: LAPersistedRight) { self.right = Carried(value: right) }

    /// Its public half.
    public var publicKey: LAPublicKey { LAPublicKey(right.value.record, reading) }

    /// Signs data: a DER signature for the X9.62 algorithms.
    @preconcurrency
    public func sign(
        _ data: Data, algorithm: SecKeyAlgorithm, completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        detached(handler) { [self] in try signature(data, algorithm) }
    }

    /// Signs data: a DER signature for the X9.62 algorithms.
    nonisolated(nonsending) public func sign(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await detached { [self] in try signature(data, algorithm) }
    }

    /// Whether it signs that way; false while the key cannot be reached.
    public func canSign(using algorithm: SecKeyAlgorithm) -> Bool { can(.sign, algorithm) }

    /// Decrypts what was encrypted with the public key.
    @preconcurrency
    public func decrypt(
        _ data: Data, algorithm: SecKeyAlgorithm, completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        detached(handler) { [self] in try plaintext(data, algorithm) }
    }

    /// Decrypts what was encrypted with the public key.
    nonisolated(nonsending) public func decrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await detached { [self] in try plaintext(data, algorithm) }
    }

    /// Whether it decrypts that way; false while the key cannot be reached.
    public func canDecrypt(using algorithm: SecKeyAlgorithm) -> Bool { can(.decrypt, algorithm) }

    /// Agrees on a secret with another public key of P-256 (X9.63, 65 bytes).
    @preconcurrency
    public func exchangeKeys(
        publicKey: Data, algorithm: SecKeyAlgorithm, parameters: [AnyHashable: Any],
        completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        nonisolated(unsafe) let parameters = parameters as CFDictionary
        detached(handler) { [self] in try secret(publicKey, algorithm, parameters) }
    }

    /// Agrees on a secret with another public key of P-256 (X9.63, 65 bytes).
    nonisolated(nonsending) public func exchangeKeys(
        publicKey: Data, algorithm: SecKeyAlgorithm, parameters: [AnyHashable: Any]
    ) async throws -> Data {
        nonisolated(unsafe) let parameters = parameters as CFDictionary
        return try await detached { [self] in try secret(publicKey, algorithm, parameters) }
    }

    /// Whether it agrees on secrets that way; false while the key cannot be reached.
    public func canExchangeKeys(using algorithm: SecKeyAlgorithm) -> Bool { can(.keyExchange, algorithm) }

    // MARK: - Work that blocks

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

/// The public key of a right. Apple: `LAPublicKey`.
///
/// Works whether or not the right is authorized. Completion handlers are called once, never on the main thread.
public final class LAPublicKey: NSObject, Sendable {
    private let record: RightRecord
    private let reading: Carried<LAContext>

    init(_ record: RightRecord, _ reading: Carried<LAContext>) {
        self.record = record
        self.reading = reading
    }

    /// Hands over the key's bytes: X9.63, 65 bytes.
    @preconcurrency
    public func exportBytes(completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        detached(handler) { [self] in try external() }
    }

    /// The key's bytes: X9.63, 65 bytes.
    public var bytes: Data { get async throws { try await detached { [self] in try external() } } }

    /// Encrypts data for the private key.
    @preconcurrency
    public func encrypt(
        _ data: Data, algorithm: SecKeyAlgorithm, completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        detached(handler) { [self] in try ciphertext(data, algorithm) }
    }

    /// Encrypts data for the private key.
    nonisolated(nonsending) public func encrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await detached { [self] in try ciphertext(data, algorithm) }
    }

    /// Whether it encrypts that way; false while the key cannot be reached.
    public func canEncrypt(using algorithm: SecKeyAlgorithm) -> Bool { can(.encrypt, algorithm) }

    /// Checks a signature: nil for one of the private key over that data.
    @preconcurrency
    public func verify(
        _ signedData: Data, signature: Data, algorithm: SecKeyAlgorithm,
        completion handler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        detachedCall(handler) { [self] in try check(signedData, signature, algorithm) }
    }

    /// Checks a signature; throws when it is none of the private key over that data.
    nonisolated(nonsending) public func verify(
        _ signedData: Data, signature: Data, algorithm: SecKeyAlgorithm
    ) async throws {
        try await detached { [self] in try check(signedData, signature, algorithm) }
    }

    /// Whether it checks signatures that way; false while the key cannot be reached.
    public func canVerify(using algorithm: SecKeyAlgorithm) -> Bool { can(.verify, algorithm) }

    // MARK: - Work that blocks

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

/// The result of a call that gives nil and an error.
private func taken(_ call: (inout Unmanaged<CFError>?) -> CFData?) throws -> Data {
    var error: Unmanaged<CFError>?
    guard let data = call(&error) else { throw error?.takeRetainedValue() ?? RightRecord.failure(errSecParam) }
    return data as Data
}
