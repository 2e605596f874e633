// SPDX-License-Identifier: Apache-2.0

import Security
import Testing

/// A type and size of key that tests generate.
struct KeyKind: CustomTestStringConvertible, Sendable {
    let bitCount: Int
    let isRSA: Bool

    static let rsa = KeyKind(bitCount: 2048, isRSA: true)
    static let curves = [256, 384, 521].map { KeyKind(bitCount: $0, isRSA: false) }
    static let p256 = curves[0]
    static let all = curves + [rsa]

    var testDescription: String { isRSA ? "RSA \(bitCount)" : "P-\(bitCount)" }

    var type: CFString { isRSA ? kSecAttrKeyTypeRSA : kSecAttrKeyTypeECSECPrimeRandom }

    var parameters: [String: Any] {
        [kSecAttrKeyType as String: type, kSecAttrKeySizeInBits as String: bitCount]
    }

    /// Generates a key. RSA keys are generated once for each size and shared, because they take long.
    func make() throws -> SecKey {
        guard isRSA else { return try makeKey(parameters) }
        return try RSAKeys.shared.key(bitCount)
    }
}

/// RSA keys shared by all tests.
private final class RSAKeys: @unchecked Sendable {
    // Protected by the lock.
    private var keys: [Int: SecKey] = [:]
    private let lock = NSLock()

    static let shared = RSAKeys()

    func key(_ bitCount: Int) throws -> SecKey {
        lock.lock()
        defer { lock.unlock() }
        if let key = keys[bitCount] { return key }
        let key = try makeKey(KeyKind(bitCount: bitCount, isRSA: true).parameters)
        keys[bitCount] = key
        return key
    }
}

/// The code of a call's error, after checking that its domain is `NSOSStatusErrorDomain` and its message is not empty.
func code(_ error: Unmanaged<CFError>?) throws -> OSStatus {
    let error = try #require(error).takeRetainedValue()
    #expect(error.domain == NSOSStatusErrorDomain)
    #expect((error.userInfo[NSLocalizedDescriptionKey] as? String)?.isEmpty == false)
    return try #require(OSStatus(exactly: error.code))
}

/// The result of a call or the code of its error, after checking that the call set exactly one of them.
func outcome<R>(_ call: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> R?) throws -> Result<R, KeyRefusal> {
    var error: Unmanaged<CFError>?
    guard let result = call(&error) else { return .failure(KeyRefusal(code: try code(error))) }
    #expect(error == nil)
    return .success(result)
}

/// The code of a refused call.
struct KeyRefusal: Error, Equatable { let code: OSStatus }

extension Result where Failure == KeyRefusal {
    /// The code of the refusal; `errSecSuccess` without one.
    var status: OSStatus {
        switch self {
        case .success: errSecSuccess
        case .failure(let refusal): refusal.code
        }
    }
}

func makeKey(_ parameters: [String: Any]) throws -> SecKey {
    try outcome { SecKeyCreateRandomKey(parameters as CFDictionary, $0) }.get()
}

func readKey(_ data: Data, _ kind: KeyKind, isPrivate: Bool) throws -> Result<SecKey, KeyRefusal> {
    let attributes: [String: Any] = [
        kSecAttrKeyType as String: kind.type,
        kSecAttrKeyClass as String: isPrivate ? kSecAttrKeyClassPrivate : kSecAttrKeyClassPublic,
    ]
    return try outcome { SecKeyCreateWithData(data as CFData, attributes as CFDictionary, $0) }
}

func external(_ key: SecKey) throws -> Data { try outcome { SecKeyCopyExternalRepresentation(key, $0) }.get() as Data }

func publicKey(_ key: SecKey) throws -> SecKey { try #require(SecKeyCopyPublicKey(key)) }

func sign(_ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: Data) throws -> Result<Data, KeyRefusal> {
    try outcome { SecKeyCreateSignature(key, algorithm, data as CFData, $0) }.map { $0 as Data }
}

/// The status of verifying a signature; `errSecSuccess` when it is valid.
func verify(_ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: Data, _ signature: Data) throws -> OSStatus {
    try outcome { SecKeyVerifySignature(key, algorithm, data as CFData, signature as CFData, $0) ? true : nil }.status
}

func encrypt(_ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: Data) throws -> Result<Data, KeyRefusal> {
    try outcome { SecKeyCreateEncryptedData(key, algorithm, data as CFData, $0) }.map { $0 as Data }
}

func decrypt(_ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: Data) throws -> Result<Data, KeyRefusal> {
    try outcome { SecKeyCreateDecryptedData(key, algorithm, data as CFData, $0) }.map { $0 as Data }
}

func exchange(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ peer: SecKey, _ parameters: [String: Any] = [:]
) throws -> Result<Data, KeyRefusal> {
    try outcome { SecKeyCopyKeyExchangeResult(key, algorithm, peer, parameters as CFDictionary, $0) }.map { $0 as Data }
}
