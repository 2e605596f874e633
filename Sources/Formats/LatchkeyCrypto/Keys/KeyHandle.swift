// SPDX-License-Identifier: Apache-2.0

// Only KeyHandle.swift, KeyHandle+RSA.swift, KeyHandle+EllipticCurve.swift and Primitives.swift of this module call
// libcrypto; no C type is visible outside it.

internal import COpenSSL

/// A libcrypto key (`EVP_PKEY`), public or a pair; immutable and usable from any thread.
final class KeyHandle: @unchecked Sendable {
    // An EVP_PKEY is reference-counted, not changed after `init`, and documented as thread-safe.
    let key: OpaquePointer

    init(adopting key: OpaquePointer) { self.key = key }

    // Overwrites the private numbers before freeing them.
    deinit { EVP_PKEY_free(key) }

    /// Creates a key of the given algorithm (`EC` or `RSA`) from its parameters; nil when libcrypto rejects them.
    convenience init?(kind: String, selection: Int32, _ numbers: ParameterList) {
        let made: OpaquePointer? = discardingErrors {
            guard let parameters = numbers.parameters(), let context = EVP_PKEY_CTX_new_from_name(nil, kind, nil) else {
                return nil
            }
            defer {
                OSSL_PARAM_free(parameters)
                EVP_PKEY_CTX_free(context)
            }
            var made: OpaquePointer?
            guard EVP_PKEY_fromdata_init(context) == 1,
                EVP_PKEY_fromdata(context, &made, selection, parameters) == 1
            else { return nil }
            return made
        }
        guard let made else { return nil }
        self.init(adopting: made)
    }

    /// Generates a random key pair; nil when libcrypto failed or `progress` returned false.
    static func generate(
        kind: String, progress: (() -> Bool)? = nil, configure: (OpaquePointer) -> Bool
    ) -> KeyHandle? {
        // As `discardingErrors` does.
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard let context = EVP_PKEY_CTX_new_from_name(nil, kind, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_keygen_init(context) == 1, configure(context) else { return nil }
        var made: OpaquePointer?
        let listener = progress.map(ProgressListener.init)
        let isMade = withExtendedLifetime(listener) {
            if let listener {
                EVP_PKEY_CTX_set_app_data(context, Unmanaged.passUnretained(listener).toOpaque())
                EVP_PKEY_CTX_set_cb(context) { context in
                    guard let data = EVP_PKEY_CTX_get_app_data(context) else { return 0 }
                    return Unmanaged<ProgressListener>.fromOpaque(data).takeUnretainedValue().body() ? 1 : 0
                }
            }
            return EVP_PKEY_generate(context, &made) == 1
        }
        guard isMade, let made else { return nil }
        return KeyHandle(adopting: made)
    }

    /// Runs one operation with this key; `body` returns nil on failure.
    func run<R>(_ body: (OpaquePointer) -> R?) -> R? {
        discardingErrors {
            guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return nil }
            defer { EVP_PKEY_CTX_free(context) }
            return body(context)
        }
    }
}

/// Removes the errors that `body` adds to libcrypto's error queue, and no others.
///
/// The queue belongs to the thread: the app may use libcrypto on it, would take our errors for its own, and must find the errors
/// of its own calls.
func discardingErrors<R>(_ body: () -> R) -> R {
    ERR_set_mark()
    defer { ERR_pop_to_mark() }
    return body()
}

/// Holds the progress callback of a key generation for libcrypto's C callback.
private final class ProgressListener {
    let body: () -> Bool

    init(_ body: @escaping () -> Bool) { self.body = body }
}

/// Builds the parameters (`OSSL_PARAM`) of a key; frees and wipes its numbers when it is released.
final class ParameterList {
    private let builder = OSSL_PARAM_BLD_new()
    private var numbers: [OpaquePointer] = []
    private var copies: [UnsafeMutableRawPointer] = []
    private var isComplete = true

    deinit {
        OSSL_PARAM_BLD_free(builder)
        for number in numbers { BN_clear_free(number) }
        for copy in copies { copy.deallocate() }
    }

    func add(_ name: ParameterName, number bytes: UnsafeRawBufferPointer) {
        guard let number = BigNumber.make(bytes) else {
            isComplete = false
            return
        }
        numbers.append(number)
        if OSSL_PARAM_BLD_push_BN(builder, name.pointer, number) != 1 { isComplete = false }
    }

    func add(_ name: ParameterName, text: ParameterName) {
        if OSSL_PARAM_BLD_push_utf8_string(builder, name.pointer, text.pointer, 0) != 1 { isComplete = false }
    }

    /// Holds a copy of the bytes: the builder stores only the pointer until `parameters()` is called.
    func add(_ name: ParameterName, octets bytes: [UInt8]) {
        let copy = UnsafeMutableRawPointer.allocate(byteCount: max(bytes.count, 1), alignment: 1)
        copy.copyMemory(from: bytes, byteCount: bytes.count)
        copies.append(copy)
        if OSSL_PARAM_BLD_push_octet_string(builder, name.pointer, copy, bytes.count) != 1 { isComplete = false }
    }

    /// The parameters; nil when an `add` failed. The caller frees them with `OSSL_PARAM_free`, which wipes secure
    /// numbers.
    fileprivate func parameters() -> UnsafeMutablePointer<OSSL_PARAM>? {
        isComplete ? OSSL_PARAM_BLD_to_param(builder) : nil
    }
}

/// A parameter name with static storage: libcrypto stores the pointer, which must outlive the call.
struct ParameterName: @unchecked Sendable {
    // Allocated once per name, never freed, never written after `init`.
    let pointer: UnsafePointer<CChar>

    private init(_ text: String) {
        let bytes = text.utf8CString
        let memory = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
        _ = memory.initialize(from: bytes)
        // The buffer holds at least the terminating zero, so it always has an address.
        pointer = UnsafePointer(memory.baseAddress ?? UnsafeMutablePointer<CChar>.allocate(capacity: 1))
    }

    static let modulus = ParameterName(OSSL_PKEY_PARAM_RSA_N)
    static let publicExponent = ParameterName(OSSL_PKEY_PARAM_RSA_E)
    static let privateExponent = ParameterName(OSSL_PKEY_PARAM_RSA_D)
    // Written out, because Swift does not import macros that concatenate two strings.
    static let factors = [ParameterName("rsa-factor1"), ParameterName("rsa-factor2")]
    static let exponents = [ParameterName("rsa-exponent1"), ParameterName("rsa-exponent2")]
    static let coefficient = ParameterName("rsa-coefficient1")
    static let group = ParameterName(OSSL_PKEY_PARAM_GROUP_NAME)
    static let publicKey = ParameterName(OSSL_PKEY_PARAM_PUB_KEY)
    static let privateKey = ParameterName(OSSL_PKEY_PARAM_PRIV_KEY)
    static let oaepLabel = ParameterName(OSSL_ASYM_CIPHER_PARAM_OAEP_LABEL)
    static let p256 = ParameterName("prime256v1")
    static let p384 = ParameterName("secp384r1")
    static let p521 = ParameterName("secp521r1")
}

/// libcrypto's large integers (`BIGNUM`).
enum BigNumber {
    /// Creates a number from big-endian bytes; the caller frees it with `BN_clear_free`, which wipes it.
    static func make(_ bytes: UnsafeRawBufferPointer) -> OpaquePointer? {
        guard let number = BN_secure_new() ?? BN_new() else { return nil }
        guard BN_bin2bn(bytes.octets, Int32(clamping: bytes.count), number) != nil else {
            BN_clear_free(number)
            return nil
        }
        // Selects constant-time arithmetic, so that timing does not reveal the numbers of a private key.
        BN_set_flags(number, BN_FLG_CONSTTIME)
        return number
    }
}
