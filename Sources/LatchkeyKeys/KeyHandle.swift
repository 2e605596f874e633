// SPDX-License-Identifier: Apache-2.0

// KeyHandle.swift, KeyHandle+RSA.swift, KeyHandle+EllipticCurve.swift and Primitives.swift are this room's only calls
// into libcrypto. C types stay inside.

internal import COpenSSL

/// A key of libcrypto, public or a pair, made once and used by any number of threads.
final class KeyHandle: @unchecked Sendable {
    // Reference-counted, never changed after `init`, and documented as safe to use from several threads.
    let key: OpaquePointer

    init(adopting key: OpaquePointer) { self.key = key }

    // libcrypto overwrites the private numbers.
    deinit { EVP_PKEY_free(key) }

    /// Makes a key of a kind's numbers.
    convenience init?(kind: String, selection: Int32, _ numbers: ParameterList) {
        guard let parameters = numbers.parameters(), let context = EVP_PKEY_CTX_new_from_name(nil, kind, nil) else {
            return nil
        }
        defer {
            OSSL_PARAM_free(parameters)
            EVP_PKEY_CTX_free(context)
        }
        var made: OpaquePointer?
        guard EVP_PKEY_fromdata_init(context) == 1, EVP_PKEY_fromdata(context, &made, selection, parameters) == 1,
            let made
        else {
            ERR_clear_error()
            return nil
        }
        self.init(adopting: made)
    }

    /// Makes a random pair; nil when the library failed or `progress` ended it.
    static func generate(
        kind: String, progress: (() -> Bool)? = nil, configure: (OpaquePointer) -> Bool
    ) -> KeyHandle? {
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
        guard isMade, let made else {
            ERR_clear_error()
            return nil
        }
        return KeyHandle(adopting: made)
    }

    /// Runs one operation of this key. What the library leaves in its queue of errors would be taken by the app's own
    /// use of it for its own, so nothing stays there.
    func run<R>(_ body: (OpaquePointer) -> R?) -> R? {
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        guard let result = body(context) else {
            ERR_clear_error()
            return nil
        }
        return result
    }
}

/// What is called while a key is being searched.
private final class ProgressListener {
    let body: () -> Bool

    init(_ body: @escaping () -> Bool) { self.body = body }
}

/// Numbers and strings that a key is made of, in the library's form.
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

    /// A copy of the bytes is kept: the library stores the pointer until the list is made.
    func add(_ name: ParameterName, octets bytes: [UInt8]) {
        let copy = UnsafeMutableRawPointer.allocate(byteCount: max(bytes.count, 1), alignment: 1)
        copy.copyMemory(from: bytes, byteCount: bytes.count)
        copies.append(copy)
        if OSSL_PARAM_BLD_push_octet_string(builder, name.pointer, copy, bytes.count) != 1 { isComplete = false }
    }

    /// The list, which the caller frees; secret numbers in it are wiped with it.
    fileprivate func parameters() -> UnsafeMutablePointer<OSSL_PARAM>? {
        isComplete ? OSSL_PARAM_BLD_to_param(builder) : nil
    }
}

/// A name that libcrypto keeps a pointer to: a Swift string would be gone by then.
struct ParameterName: @unchecked Sendable {
    // Allocated once for each name, never freed and never written.
    let pointer: UnsafePointer<CChar>

    private init(_ text: String) {
        let bytes = text.utf8CString
        let memory = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
        _ = memory.initialize(from: bytes)
        // The string is never empty, so that there is an address.
        pointer = UnsafePointer(memory.baseAddress ?? UnsafeMutablePointer<CChar>.allocate(capacity: 1))
    }

    static let modulus = ParameterName(OSSL_PKEY_PARAM_RSA_N)
    static let publicExponent = ParameterName(OSSL_PKEY_PARAM_RSA_E)
    static let privateExponent = ParameterName(OSSL_PKEY_PARAM_RSA_D)
    // Swift does not import these macros, which join two strings.
    static let factors = [ParameterName("rsa-factor1"), ParameterName("rsa-factor2")]
    static let exponents = [ParameterName("rsa-exponent1"), ParameterName("rsa-exponent2")]
    static let coefficient = ParameterName("rsa-coefficient1")
    static let group = ParameterName(OSSL_PKEY_PARAM_GROUP_NAME)
    static let publicKey = ParameterName(OSSL_PKEY_PARAM_PUB_KEY)
    static let privateKey = ParameterName(OSSL_PKEY_PARAM_PRIV_KEY)
    static let p256 = ParameterName("prime256v1")
    static let p384 = ParameterName("secp384r1")
    static let p521 = ParameterName("secp521r1")
}

/// Large numbers, which are wiped by who frees them.
enum BigNumber {
    /// A number from its bytes, the first one the highest.
    static func make(_ bytes: UnsafeRawBufferPointer) -> OpaquePointer? {
        // The numbers of a private key leave no trace in how long a division takes.
        guard let number = BN_secure_new() ?? BN_new() else { return nil }
        guard BN_bin2bn(bytes.octets, Int32(clamping: bytes.count), number) != nil else {
            BN_clear_free(number)
            return nil
        }
        BN_set_flags(number, BN_FLG_CONSTTIME)
        return number
    }
}

extension UnsafeRawBufferPointer {
    var octets: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension UnsafeMutableRawBufferPointer {
    var octets: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}
