// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import Security
import TestSupport
import Testing

/// Runs the `openssl` command in a temporary folder, as an independent implementation to compare with.
final class OpenSSLCommand: Sendable {
    private let program: OtherProgram

    init() throws { program = try OtherProgram() }

    func write(_ name: String, _ data: Data) throws { try program.write(name, data) }

    func read(_ name: String) throws -> Data { try program.read(name) }

    /// Runs `openssl` in the folder; returns whether it succeeded.
    @discardableResult
    func run(_ arguments: String...) throws -> Bool { try run(arguments) }

    /// Runs `openssl` in the folder; returns whether it succeeded.
    @discardableResult
    func run(_ arguments: [String]) throws -> Bool { try program.end(["openssl"] + arguments).isContent }

    /// Runs `openssl` in the folder and returns its standard output; throws when it fails.
    func output(_ arguments: [String]) throws -> Data { try program.output(["openssl"] + arguments) }

    /// Runs `openssl` in the folder; throws when it fails.
    func succeed(_ arguments: String...) throws { try succeed(arguments) }

    /// Runs `openssl` in the folder; throws when it fails.
    func succeed(_ arguments: [String]) throws { _ = try output(arguments) }

    // MARK: - Key files

    /// Writes `key.der` (PKCS#8) and `public.der` (`SubjectPublicKeyInfo`) of a key.
    func write(_ key: SecKey, _ kind: KeyKind) throws {
        let form = try #require(PrivateKey(SecretBytes(external(key)), type: kind.keyType))
        try write("key.der", Data(form.pkcs8.copyBytes()))
        try write("public.der", Data(form.publicKey.subjectPublicKeyInfo))
    }

    /// Generates `key.der` and `public.der` with `openssl` and imports the key.
    func makeKey(_ kind: KeyKind) throws -> SecKey {
        let size = kind.isRSA ? "rsa_keygen_bits:\(kind.bitCount)" : "ec_paramgen_curve:P-\(kind.bitCount)"
        let type = kind.isRSA ? "RSA" : "EC"
        try succeed("genpkey", "-algorithm", type, "-pkeyopt", size, "-out", "key.pem")
        try succeed("pkcs8", "-topk8", "-nocrypt", "-in", "key.pem", "-outform", "DER", "-out", "key.der")
        try succeed("pkey", "-in", "key.pem", "-pubout", "-outform", "DER", "-out", "public.der")
        let form = try #require(PrivateKey(pkcs8: SecretBytes(read("key.der"))))
        let key = try readKey(Data(form.externalRepresentation.copyBytes()), kind, isPrivate: true).get()
        let info = try #require(try PublicKey(subjectPublicKeyInfo: Array(read("public.der"))))
        #expect(try external(publicKey(key)) == Data(info.externalRepresentation))
        return key
    }
}

extension KeyKind {
    /// The corresponding type of LatchkeyKeys.
    var keyType: KeyType {
        guard !isRSA, let curve = Curve(bitCount: bitCount) else { return .rsa }
        return .ellipticCurve(curve)
    }
}
