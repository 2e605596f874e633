// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeys
import LatchkeyModel
import Security
import TestSupport
import Testing

/// The `openssl` command in a folder of its own: another hand on the same standards.
final class OpenSSLCommand: Sendable {
    private let program: OtherProgram

    init() throws { program = try OtherProgram() }

    func write(_ name: String, _ data: Data) throws { try program.write(name, data) }

    func read(_ name: String) throws -> Data { try program.read(name) }

    /// Runs it in the folder; whether it was content.
    @discardableResult
    func run(_ arguments: String...) throws -> Bool { try run(arguments) }

    /// Runs it in the folder; whether it was content.
    @discardableResult
    func run(_ arguments: [String]) throws -> Bool { try program.end(["openssl"] + arguments).isContent }

    /// What it writes to its standard output; it has to be content.
    func output(_ arguments: [String]) throws -> Data { try program.output(["openssl"] + arguments) }

    /// Runs it in the folder; it has to be content.
    func succeed(_ arguments: String...) throws { try succeed(arguments) }

    /// Runs it in the folder; it has to be content.
    func succeed(_ arguments: [String]) throws { _ = try output(arguments) }

    // MARK: - Keys as files

    /// Writes `key.der`, PKCS#8, and `public.der`, the information of the public key.
    func write(_ key: SecKey, _ kind: KeyKind) throws {
        let form = try #require(PrivateKey(SecretBytes(external(key)), type: kind.keyType))
        try write("key.der", Data(form.pkcs8.copyBytes()))
        try write("public.der", Data(form.publicKey.subjectPublicKeyInfo))
    }

    /// Makes `key.der` and `public.der`, and reads the key.
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
    /// The same for the room below.
    var keyType: KeyType {
        guard !isRSA, let curve = Curve(bitCount: bitCount) else { return .rsa }
        return .ellipticCurve(curve)
    }
}
