// SPDX-License-Identifier: Apache-2.0

// With X509.swift the only callers of libcrypto in this room. C types stay inside.

internal import COpenSSL
internal import LatchkeyModel

/// libcrypto's algorithms for PKCS#12, also those of old files, which are encrypted with 40 bits of RC2.
private struct Algorithms: @unchecked Sendable {
    // Made once, never changed, and documented as safe to share between threads.
    let context: OpaquePointer?

    static let shared: Algorithms = {
        // A context of our own: what the app's default one offers stays as it is.
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard let context = OSSL_LIB_CTX_new() else { return Algorithms(context: nil) }
        _ = OSSL_PROVIDER_load(context, "default")
        // Missing where a distribution packs it apart; such files are then unsupported.
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

/// A PKCS#12 file as libcrypto holds it. Each step counts the work it is about to do before it does it.
final class PKCS12File {
    private let file: OpaquePointer
    private var allowance: UInt64
    private var passphrase: SecretBytes?
    private var bagAllowance = PKCS12.bags

    /// Takes exactly one file.
    init(_ data: [UInt8], iterations: UInt64) throws(PKCS12.Refusal) {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard data.count <= Limits.secretBytes else { throw .undecodable }
        var made = PKCS12_init_ex(NID_pkcs7_data, Algorithms.shared.context, nil)
        guard made != nil else { throw .failed }
        let isWhole = data.withUnsafeBufferPointer { bytes -> Bool in
            var position = bytes.baseAddress
            // On failure libcrypto frees what it was given and clears the pointer.
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

    /// Checks the authentication code and keeps the passphrase for `bags`.
    func authenticate(_ passphrase: SecretBytes?) throws(PKCS12.Refusal) {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        // Files authenticated by a signature have none: nothing a passphrase could open (RFC 7292, section 3.1).
        guard PKCS12_mac_present(file) == 1 else { throw .undecodable }
        var algorithm: UnsafePointer<X509_ALGOR>?
        var iterations: UnsafePointer<ASN1_INTEGER>?
        PKCS12_get0_mac(nil, &algorithm, nil, &iterations, file)
        guard let algorithm else { throw .undecodable }
        guard Algorithms.shared.has(digest: OBJ_obj2nid(algorithm.pointee.algorithm)) else { throw .unsupported }
        // libcrypto counts bytes in 32 bits.
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
        // An empty passphrase and none are two things to PKCS#12 and one to people.
        guard passphrase.count == 0 else { throw .wrongPassphrase }
        try spend(work)
        guard PKCS12_verify_mac(file, nil, 0) == 1 else { throw .wrongPassphrase }
        self.passphrase = nil
    }

    #if DEBUG || FUZZER
    /// Keeps the passphrase for `bags` without a look at the authentication code.
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
        // Negative, or of more than 64 bits.
        if ASN1_INTEGER_get_int64(&isNegative, number) == 1 { throw .undecodable }
        throw .tooMuchWork
    }

    // MARK: - Contents

    /// Every key and certificate, in the order of the file.
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
            // Encrypted for somebody's public key: no passphrase opens it.
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
                bags.append(try Self.named(bag, .privateKey(Self.encode(key))))
            case NID_pkcs8ShroudedKeyBag:
                bags.append(try Self.named(bag, .privateKey(decrypt(bag))))
            case NID_certBag where PKCS12_SAFEBAG_get_bag_nid(bag) == NID_x509Certificate:
                bags.append(try Self.named(bag, .certificate(Self.certificate(bag))))
            case NID_safeContentsBag:
                guard let inner = PKCS12_SAFEBAG_get0_safes(bag) else { throw .undecodable }
                try read(inner, depth: depth + 1, into: &bags)
            default:
                // Revocation lists, secrets and what else there may be: no part of an identity.
                break
            }
        }
    }

    private static func named(_ bag: OpaquePointer, _ contents: PKCS12Bag.Contents) -> PKCS12Bag {
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
        // Overwrites the key before it frees it.
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

    // MARK: - Work

    /// Counts what deriving a key will cost, and refuses what cannot be decrypted or would take too long.
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

    /// The parameters of an algorithm, read with the function that libcrypto itself reads them with.
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
