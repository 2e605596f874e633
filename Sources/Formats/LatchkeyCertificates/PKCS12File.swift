// SPDX-License-Identifier: Apache-2.0

// Only this file and X509.swift of this module call libcrypto; no C type is visible outside it.

internal import COpenSSL
internal import LatchkeyModel

/// libcrypto's algorithms for PKCS#12, including the legacy ones of old files such as 40-bit RC2.
private struct Algorithms: @unchecked Sendable {
    // Created once, never changed, and documented as thread-safe.
    let context: OpaquePointer?

    static let shared: Algorithms = {
        // A private library context, so that loading legacy algorithms does not change the app's default context.
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard let context = OSSL_LIB_CTX_new() else { return Algorithms(context: nil) }
        _ = OSSL_PROVIDER_load(context, "default")
        // Some distributions package this provider separately; without it, files with legacy encryption are
        // `unsupported`.
        _ = OSSL_PROVIDER_load(context, "legacy")
        return Algorithms(context: context)
    }()

    func has(cipher: Int32) -> Bool {
        guard cipher != NID_undef, let name = OBJ_nid2sn(cipher), let found = EVP_CIPHER_fetch(context, name, nil)
        else {
            return false
        }
        EVP_CIPHER_free(found)
        return true
    }

    func has(digest: Int32) -> Bool {
        guard digest != NID_undef, let name = OBJ_nid2sn(digest), let found = EVP_MD_fetch(context, name, nil) else {
            return false
        }
        EVP_MD_free(found)
        return true
    }
}

/// A PKCS#12 file parsed by libcrypto. Each step subtracts its iterations from the allowance before it runs.
final class PKCS12File {
    private let file: OpaquePointer
    private var allowance: UInt64
    private var passphrase: SecretBytes?
    private var bagAllowance = PKCS12.bags

    /// Parses exactly one file; trailing bytes are `undecodable`.
    init(_ data: [UInt8], iterations: UInt64) throws(PKCS12.Refusal) {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard data.count <= Limits.secretBytes else { throw .undecodable }
        var made = PKCS12_init_ex(NID_pkcs7_data, Algorithms.shared.context, nil)
        guard made != nil else { throw .failed }
        let isWhole = data.withUnsafeBufferPointer { bytes -> Bool in
            var position = bytes.baseAddress
            // On failure libcrypto frees the object and sets `made` to nil.
            guard d2i_PKCS12(&made, &position, bytes.count) != nil else { return false }
            return bytes.baseAddress.map { position == $0 + bytes.count } ?? false
        }
        guard isWhole, let made else {
            PKCS12_free(made)
            throw .undecodable
        }
        file = made
        allowance = iterations
    }

    deinit { PKCS12_free(file) }

    private func spend(_ iterations: UInt64) throws(PKCS12.Refusal) {
        guard iterations <= allowance else { throw .tooMuchWork }
        allowance -= iterations
    }

    // MARK: - Authentication

    /// Verifies the MAC, and stores the passphrase in memory for `bags()`.
    func authenticate(_ passphrase: SecretBytes?) throws(PKCS12.Refusal) {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        // A file without a MAC is authenticated by a signature; no passphrase opens it (RFC 7292, section 3.1).
        guard PKCS12_mac_present(file) == 1 else { throw .undecodable }
        var algorithm: UnsafePointer<X509_ALGOR>?
        var iterations: UnsafePointer<ASN1_INTEGER>?
        PKCS12_get0_mac(nil, &algorithm, nil, &iterations, file)
        guard let algorithm else { throw .undecodable }
        guard Algorithms.shared.has(digest: OBJ_obj2nid(algorithm.pointee.algorithm)) else { throw .unsupported }
        // libcrypto takes the length as a 32-bit integer.
        guard let passphrase, passphrase.count <= Limits.secretBytes else { throw .wrongPassphrase }
        let work = try Self.count(iterations, default: 1)
        try spend(work)
        let fits = passphrase.withBytes { bytes in
            PKCS12_verify_mac(file, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count)) == 1
        }
        if fits {
            self.passphrase = passphrase
            return
        }
        // PKCS#12 distinguishes an empty passphrase from an absent one; users do not, so the absent one is tried too.
        guard passphrase.count == 0 else { throw .wrongPassphrase }
        try spend(work)
        guard PKCS12_verify_mac(file, nil, 0) == 1 else { throw .wrongPassphrase }
        self.passphrase = nil
    }

    #if DEBUG || FUZZER
    /// Stores the passphrase in memory for `bags()` without verifying the MAC.
    func testOnlySkipAuthentication(_ passphrase: SecretBytes) { self.passphrase = passphrase }
    #endif

    private func withPassphrase<R>(_ body: (UnsafePointer<CChar>?, Int32) -> R) -> R {
        guard let passphrase else { return body(nil, 0) }
        return passphrase.withBytes { body($0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count)) }
    }

    private static func count(
        _ number: UnsafePointer<ASN1_INTEGER>?, default standard: UInt64? = nil
    ) throws(PKCS12.Refusal) -> UInt64 {
        guard let number else {
            guard let standard else { throw .undecodable }
            return standard
        }
        var value: UInt64 = 0
        var isNegative: Int64 = 0
        if ASN1_INTEGER_get_uint64(&value, number) == 1 { return value }
        // The number is negative (malformed), or it has more than 64 bits and exceeds every limit.
        if ASN1_INTEGER_get_int64(&isNegative, number) == 1 { throw .undecodable }
        throw .tooMuchWork
    }

    // MARK: - Contents

    /// Decrypts and returns all keys and certificates in file order; requires `authenticate` first.
    ///
    /// A key or a certificate that cannot be read is returned as `unreadable`; any other error refuses the file.
    func bags() throws(PKCS12.Refusal) -> [PKCS12Bag] {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard let parts = PKCS12_unpack_authsafes(file) else { throw .undecodable }
        defer { latchkey_pkcs7_free(parts) }
        var bags: [PKCS12Bag] = []
        for index in 0..<max(0, latchkey_pkcs7_count(parts)) {
            guard let part = latchkey_pkcs7_at(parts, index) else { throw .undecodable }
            let unpacked = try unpack(part)
            defer { latchkey_safe_bag_free(unpacked) }
            try read(unpacked, depth: 0, into: &bags)
        }
        return bags
    }

    private func unpack(_ part: UnsafeMutablePointer<PKCS7>) throws(PKCS12.Refusal) -> OpaquePointer {
        var unpacked: OpaquePointer?
        switch OBJ_obj2nid(part.pointee.type) {
        case NID_pkcs7_data:
            unpacked = PKCS12_unpack_p7data(part)
        case NID_pkcs7_encrypted:
            guard let encrypted = part.pointee.d.encrypted, let contents = encrypted.pointee.enc_data,
                contents.pointee.enc_data != nil
            else { throw .undecodable }
            try weigh(contents.pointee.algorithm)
            unpacked = withPassphrase { PKCS12_unpack_p7encdata(part, $0, $1) }
        case NID_pkcs7_enveloped:
            // Encrypted to a public key; no passphrase opens it.
            throw .unsupported
        default:
            throw .undecodable
        }
        guard let unpacked else { throw .undecodable }
        return unpacked
    }

    private func read(_ list: OpaquePointer, depth: Int, into bags: inout [PKCS12Bag]) throws(PKCS12.Refusal) {
        guard depth <= PKCS12.nesting else { throw .undecodable }
        for index in 0..<max(0, latchkey_safe_bag_count(list)) {
            guard let bag = latchkey_safe_bag_at(list, index) else { throw .undecodable }
            guard bagAllowance > 0 else { throw .tooMuchWork }
            bagAllowance -= 1
            switch PKCS12_SAFEBAG_get_nid(bag) {
            case NID_keyBag:
                guard let key = PKCS12_SAFEBAG_get0_p8inf(bag) else { throw .undecodable }
                bags.append(try Self.named(bag) { () throws(PKCS12.Refusal) in .privateKey(try Self.encode(key)) })
            case NID_pkcs8ShroudedKeyBag:
                bags.append(try Self.named(bag) { () throws(PKCS12.Refusal) in .privateKey(try decrypt(bag)) })
            case NID_certBag where PKCS12_SAFEBAG_get_bag_nid(bag) == NID_x509Certificate:
                bags.append(
                    try Self.named(bag) { () throws(PKCS12.Refusal) in .certificate(try Self.certificate(bag)) })
            case NID_safeContentsBag:
                guard let inner = PKCS12_SAFEBAG_get0_safes(bag) else { throw .undecodable }
                try read(inner, depth: depth + 1, into: &bags)
            default:
                // Other bags, such as revocation lists and secrets, are not part of an identity.
                break
            }
        }
    }

    private static func named(
        _ bag: OpaquePointer, _ read: () throws(PKCS12.Refusal) -> PKCS12Bag.Contents
    ) throws(PKCS12.Refusal) -> PKCS12Bag {
        let contents: PKCS12Bag.Contents
        do throws(PKCS12.Refusal) {
            contents = try read()
        } catch {
            switch error {
            case .undecodable, .unsupported: contents = .unreadable(error)
            // The work is limited for the whole file, and memory that ran out says nothing about the bag.
            case .tooMuchWork, .failed, .wrongPassphrase, .unreadableKey: throw error
            }
        }
        var name: String?
        if let text = PKCS12_get_friendlyname(bag) {
            name = String(validatingCString: text)
            latchkey_openssl_free(text)
        }
        var identifier: [UInt8]?
        if let attribute = PKCS12_SAFEBAG_get0_attr(bag, NID_localKeyID), attribute.pointee.type == V_ASN1_OCTET_STRING,
            let string = attribute.pointee.value.octet_string
        {
            identifier = OpenSSLBytes.contents(string)
        }
        return PKCS12Bag(friendlyName: name, localKeyIdentifier: identifier, contents: contents)
    }

    private static func certificate(_ bag: OpaquePointer) throws(PKCS12.Refusal) -> Certificate {
        guard let x509 = PKCS12_SAFEBAG_get1_cert(bag) else { throw .undecodable }
        defer { X509_free(x509) }
        guard let der = OpenSSLBytes.encode({ i2d_X509(x509, $0) }), let certificate = Certificate(der: der) else {
            throw .undecodable
        }
        return certificate
    }

    // MARK: - Private keys

    private func decrypt(_ bag: OpaquePointer) throws(PKCS12.Refusal) -> SecretBytes {
        guard let encrypted = PKCS12_SAFEBAG_get0_pkcs8(bag) else { throw .undecodable }
        var algorithm: UnsafePointer<X509_ALGOR>?
        X509_SIG_get0(encrypted, &algorithm, nil)
        try weigh(algorithm)
        let key = withPassphrase { PKCS12_decrypt_skey_ex(bag, $0, $1, Algorithms.shared.context, nil) }
        guard let key else { throw .undecodable }
        // Overwrites the key before freeing it.
        defer { PKCS8_PRIV_KEY_INFO_free(key) }
        return try Self.encode(key)
    }

    private static func encode(_ key: OpaquePointer) throws(PKCS12.Refusal) -> SecretBytes {
        let count = Int(i2d_PKCS8_PRIV_KEY_INFO(key, nil))
        guard count > 0 else { throw .undecodable }
        var written = 0
        let secret = SecretBytes(count: count) { output in
            var position = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            written = Int(i2d_PKCS8_PRIV_KEY_INFO(key, &position))
        }
        guard written == count else { throw .failed }
        return secret
    }

    // MARK: - Cost of key derivation

    /// Subtracts the cost of deriving the key of an encrypted part from the allowance, before it is derived.
    ///
    /// Throws `unsupported` for an unknown algorithm and `tooMuchWork` when the allowance does not suffice.
    private func weigh(_ algorithm: UnsafePointer<X509_ALGOR>?) throws(PKCS12.Refusal) {
        guard let algorithm else { throw .undecodable }
        let scheme = OBJ_obj2nid(algorithm.pointee.algorithm)
        if scheme == NID_pbes2 {
            let parameters = try Self.parameters(of: algorithm, d2i_PBE2PARAM)
            defer { PBE2PARAM_free(parameters) }
            guard let derivation = parameters.pointee.keyfunc, let encryption = parameters.pointee.encryption else {
                throw .undecodable
            }
            guard Algorithms.shared.has(cipher: OBJ_obj2nid(encryption.pointee.algorithm)) else { throw .unsupported }
            try weigh(derivation: derivation)
            return
        }
        var cipher = NID_undef
        var digest = NID_undef
        guard EVP_PBE_find(Int32(EVP_PBE_TYPE_OUTER), scheme, &cipher, &digest, nil) == 1,
            Algorithms.shared.has(cipher: cipher), Algorithms.shared.has(digest: digest)
        else { throw .unsupported }
        let parameters = try Self.parameters(of: algorithm, d2i_PBEPARAM)
        defer { PBEPARAM_free(parameters) }
        try spend(Self.count(parameters.pointee.iter))
    }

    private func weigh(derivation: UnsafePointer<X509_ALGOR>) throws(PKCS12.Refusal) {
        switch OBJ_obj2nid(derivation.pointee.algorithm) {
        case NID_id_pbkdf2:
            let parameters = try Self.parameters(of: derivation, d2i_PBKDF2PARAM)
            defer { PBKDF2PARAM_free(parameters) }
            try spend(Self.count(parameters.pointee.iter))
        case NID_id_scrypt:
            let parameters = try Self.parameters(of: derivation, d2i_SCRYPT_PARAMS)
            defer { SCRYPT_PARAMS_free(parameters) }
            let cost = try Self.count(parameters.pointee.costParameter)
            let block = try Self.count(parameters.pointee.blockSize)
            let lanes = try Self.count(parameters.pointee.parallelizationParameter)
            let (blocks, isLarge) = cost.multipliedReportingOverflow(by: block)
            let (work, isLarger) = blocks.multipliedReportingOverflow(by: lanes)
            guard !isLarge, !isLarger else { throw .tooMuchWork }
            try spend(work)
        default:
            throw .unsupported
        }
    }

    /// Decodes the parameters of an algorithm with libcrypto's own decoder, so that both interpret them identically.
    private static func parameters<Parameters>(
        of algorithm: UnsafePointer<X509_ALGOR>,
        _ decode: (
            UnsafeMutablePointer<UnsafeMutablePointer<Parameters>?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int
        ) -> UnsafeMutablePointer<Parameters>?
    ) throws(PKCS12.Refusal) -> UnsafeMutablePointer<Parameters> {
        guard let parameter = algorithm.pointee.parameter, parameter.pointee.type == V_ASN1_SEQUENCE,
            let sequence = parameter.pointee.value.sequence
        else { throw .undecodable }
        var position = ASN1_STRING_get0_data(sequence)
        guard let decoded = decode(nil, &position, Int(ASN1_STRING_length(sequence))) else { throw .undecodable }
        return decoded
    }
}
