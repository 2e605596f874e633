// SPDX-License-Identifier: Apache-2.0

import KeyFormats
import LatchkeyCrypto
import LatchkeyDesktop
import LatchkeyModel
import LatchkeySystem

/// key sign, verify, encrypt, decrypt.
enum KeyUse {
    /// Limit of a message that is encrypted or decrypted, in bytes: all of it is in memory at once.
    private static let messageBytes = 64 << 20
    /// Limit of a file that holds a signature, in bytes.
    private static let signatureBytes = 64 << 10

    // MARK: - Signatures

    static func sign(_ options: Options) throws(CommandFailure) {
        let (name, file) = (options.arguments[0], options.inputFile)
        let digest = try options.key.digest()
        let result = try KeyResult(options, isBinary: true)
        let named = try find(name)
        let scheme = try Scheme(named.type, digest, options)
        let message = try hash(file, digest)
        try failing { () throws(Failure) in
            let key = try named.privateHalf(reason: localized("sign with \(name)"))
            let signature = try scheme.sign(message, key)
            guard options.isJSON else { return try result.write(SecretBytes(signature)) }
            result.writeJSON([
                ("name", .text(name)), ("algorithm", .text(scheme.name)),
                ("signature", .text(Base64.standard.encode(signature))),
            ])
        }
    }

    static func verify(_ options: Options) throws(CommandFailure) {
        let (name, file) = (options.arguments[0], options.inputFile)
        guard let path = options.key.signature else {
            throw .usage("key verify needs --signature FILE", "See: latchkey help key verify")
        }
        let digest = try options.key.digest()
        let encoding = try options.key.encoding()
        let named = try find(name)
        let scheme = try Scheme(named.type, digest, options)
        let bytes = try Input.whole(path, limit: signatureBytes).copyBytes()
        guard let signature = encoding.decode(bytes) else {
            throw .failure(Failure(.invalidParameter, "\(path) is not in the encoding that the options name."))
        }
        let message = try hash(file, digest)
        let isRight = scheme.verify(message, signature, try failing { () throws(Failure) in try named.publicKey() })
        if options.isJSON {
            Output.write(
                JSON.object([
                    ("name", .text(name)), ("algorithm", .text(scheme.name)), ("valid", .boolean(isRight)),
                ]).line + "\n")
        }
        guard isRight else {
            throw .failure(
                Failure(
                    .invalidParameter, "The signature is not valid for this message and \(name).",
                    hint: "It may have been made with another --hash, or with or without --pss."))
        }
        if !options.isJSON { Output.write(localized("The signature is valid.") + "\n") }
    }

    private static func find(_ name: String) throws(CommandFailure) -> NamedKey {
        try failing { () throws(Failure) in try NamedKey.find(name) }
    }

    private static func hash(_ file: FilePath?, _ algorithm: DigestAlgorithm) throws(CommandFailure) -> [UInt8] {
        try failing { () throws(Failure) in
            let digest = try RunningDigest(algorithm)
            do throws(CommandFailure) {
                try Input.forEachPiece(file) { (bytes) throws(Failure) in try digest.add(bytes) }
            } catch {
                guard case .failure(let failure) = error else { throw Failure(.internalFailure) }
                throw failure
            }
            return try digest.finish()
        }
    }

    /// How a digest is signed: ECDSA in DER, RSA with PKCS#1 v1.5, or RSA with PSS for `--pss`.
    private struct Scheme {
        private let digest: DigestAlgorithm
        private let padding: RSASignaturePadding?
        let name: String

        init(_ type: String, _ digest: DigestAlgorithm, _ options: Options) throws(CommandFailure) {
            self.digest = digest
            let isRSA = type == "rsa"
            let usesPSS = options.key.usesPSS
            guard isRSA || !usesPSS else { throw .usage("--pss is for RSA keys only", "Leave it out.") }
            padding = isRSA ? (usesPSS ? .pss(digest) : .pkcs1Digest(digest)) : nil
            name = (isRSA ? (usesPSS ? "rsa-pss" : "rsa-pkcs1") : "ecdsa") + "-\(digest)"
        }

        func sign(_ message: [UInt8], _ key: PrivateHalf) throws(Failure) -> [UInt8] {
            if let padding { return try key.software().signRSA(message, padding) }
            let raw = try key.signECDSA(message)
            guard case .ellipticCurve(let curve) = key.publicKey.type,
                let der = ECDSASignature.der(raw: raw, curve: curve)
            else { throw Failure(.internalFailure, "The signature has the wrong length.") }
            return der
        }

        func verify(_ message: [UInt8], _ signature: [UInt8], _ key: PublicKey) -> Bool {
            guard let padding else { return key.verifiesECDSA(message, der: signature) }
            return key.verifiesRSA(message, padding, signature: signature)
        }
    }

    // MARK: - Ciphers

    /// `kSecKeyAlgorithmECIESEncryptionStandardX963SHA256AESGCM`.
    private static let integrated = IntegratedEncryption(.sha256, derivesNonce: false)
    /// `kSecKeyAlgorithmRSAEncryptionOAEPSHA256AESGCM`.
    private static let wrapped = WrappedKeyEncryption(.sha256)

    static func encrypt(_ options: Options) throws(CommandFailure) {
        let (name, file) = (options.arguments[0], options.inputFile)
        let result = try KeyResult(options, isBinary: true)
        let named = try find(name)
        let message = try Input.whole(file, limit: messageBytes)
        try failing { () throws(Failure) in
            let key = try named.publicKey()
            let sealed: [UInt8]
            if key.type == .rsa {
                let sessionKey = try randomSecret(WrappedKeyEncryption.sessionKeyBytes(for: key))
                sealed = try wrapped.seal(message, sessionKey: sessionKey, for: key)
            } else {
                sealed = try integrated.seal(message, for: key)
            }
            guard options.isJSON else { return try result.write(SecretBytes(sealed)) }
            result.writeJSON([("name", .text(name)), ("ciphertext", .text(Base64.standard.encode(sealed)))])
        }
    }

    static func decrypt(_ options: Options) throws(CommandFailure) {
        let (name, file) = (options.arguments[0], options.inputFile)
        let encoding = try options.key.encoding()
        let result = try KeyResult(options, isBinary: false, isEncoded: false)
        let named = try find(name)
        // As text the same bytes are up to twice as long, with a line end.
        let bytes = try Input.whole(file, limit: 2 * messageBytes + 4096).copyBytes()
        guard let sealed = encoding.decode(bytes) else {
            throw .failure(
                Failure(.invalidParameter, "The input is not in the encoding that the options name."))
        }
        let plaintext = try failing { () throws(Failure) in
            try open(sealed, try named.privateHalf(reason: localized("decrypt with \(name)")))
        }
        guard options.isJSON else { return try result.write(foreign: plaintext) }
        // The plaintext need not be text, so JSON also has its bytes in hexadecimal.
        let text = plaintext.withBytes { String(validating: $0, as: UTF8.self) }
        result.writeJSON([
            ("name", .text(name)), ("plaintext", text.map { .text($0) } ?? .null),
            ("hex", .text(plaintext.withBytes(Hexadecimal.encode))),
        ])
    }

    private static func open(_ sealed: [UInt8], _ key: PrivateHalf) throws(Failure) -> SecretBytes {
        guard case .ellipticCurve(let curve) = key.publicKey.type else {
            return try wrapped.open(sealed, for: key.publicKey, unwrap: try key.software().decryptRSA)
        }
        return try integrated.open(sealed, curve: curve) { (peer) throws(Failure) in try key.agree(with: peer) }
    }
}
