// SPDX-License-Identifier: Apache-2.0

import Security
import TestSupport
import Testing

/// Signatures, ciphertexts and secrets are exchanged with the `openssl` command, in both directions.
@Suite struct KeyInteroperationTests {
    private static let message = Data("A message for another hand.".utf8)
    private static let digests = ["SHA1", "SHA224", "SHA256", "SHA384", "SHA512"]
    private let openssl: OpenSSLCommand

    init() throws {
        openssl = try OpenSSLCommand()
        try openssl.write("message", Self.message)
    }

    private func algorithm(_ name: String) throws -> SecKeyAlgorithm {
        try #require(keyAlgorithms.first { $0.0 == name }?.1, "\(name)")
    }

    /// Arguments of `openssl dgst` for RSA-PSS, none for PKCS#1 and ECDSA.
    private func options(_ scheme: String, _ digest: String) -> [String] {
        guard scheme.contains("PSS") else { return [] }
        let salt = ["SHA1": 20, "SHA224": 28, "SHA256": 32, "SHA384": 48, "SHA512": 64][digest] ?? 0
        return ["rsa_padding_mode:pss", "rsa_pss_saltlen:\(salt)", "rsa_mgf1_md:\(digest)"].flatMap { ["-sigopt", $0] }
    }

    private func check(_ key: SecKey, _ scheme: String) throws {
        for digest in Self.digests {
            let algorithm = try algorithm(scheme + digest)
            let options = options(scheme, digest)
            // Signed by this module, verified by openssl.
            try openssl.write("signature", sign(key, algorithm, Self.message).get())
            let there = ["dgst", "-\(digest.lowercased())", "-keyform", "DER"] + options
            #expect(
                try openssl.run(there + ["-verify", "public.der", "-signature", "signature", "message"]),
                "\(scheme)\(digest)")
            // Signed by openssl, verified by this module.
            try openssl.succeed(there + ["-sign", "key.der", "-out", "theirs", "message"])
            let theirs = try openssl.read("theirs")
            #expect(try verify(publicKey(key), algorithm, Self.message, theirs) == errSecSuccess, "\(scheme)\(digest)")
        }
    }

    @Test(arguments: KeyKind.curves) func ecdsaSignaturesInteroperateBothWays_SK04(kind: KeyKind) throws {
        try check(openssl.makeKey(kind), "ecdsaSignatureMessageX962")
        let key = try kind.make()
        try openssl.write(key, kind)
        try check(key, "ecdsaSignatureMessageX962")
    }

    @Test func publishedSignaturesVerify_SK04() throws {
        // Lines of source, bits, digest, private key, point, message, and r and s.
        let rows = try published().filter { $0[1].hasPrefix("RFC 4754") }
        #expect(rows.count == 2)
        for row in rows {
            let kind = KeyKind(bitCount: try #require(Int(row[2])), isRSA: false)
            let (point, scalar) = (try bytes(row[5]), try bytes(row[4]))
            let key = try readKey(point + scalar, kind, isPrivate: true).get()
            #expect(try external(publicKey(key)) == point)
            let algorithm = try algorithm("ecdsaSignatureMessageRFC4754\(row[3].uppercased())")
            #expect(try verify(publicKey(key), algorithm, bytes(row[6]), bytes(row[7])) == errSecSuccess, "\(row[1])")
        }
    }

    private func bytes(_ digits: String) throws -> Data { Data(try hex(digits)) }

    private func published() throws -> [[String]] {
        let text = try String(contentsOf: Repository.vectors("keys.tsv"), encoding: .utf8)
        return text.split(separator: "\n").filter { $0.hasPrefix("ecdsa\t") }.map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }

    @Test(arguments: ["rsaSignatureMessagePKCS1v15", "rsaSignatureMessagePSS"])
    func rsaSignaturesInteroperateBothWays_SK04(scheme: String) throws {
        let key = try openssl.makeKey(.rsa)
        try check(key, scheme)
    }

    @Test func rawSignaturesInteroperateBothWays() throws {
        let key = try openssl.makeKey(.rsa)
        let block = Data([0]) + Data(repeating: 0x33, count: 255)
        // openssl refuses to sign without padding; decrypting without padding is the same computation.
        let inputs: [(SecKeyAlgorithm, [String], Data)] = [
            (.rsaSignatureRaw, ["-decrypt", "-pkeyopt", "rsa_padding_mode:none"], block),
            (.rsaSignatureDigestPKCS1v15Raw, ["-sign"], Data("any bytes".utf8)),
        ]
        for (algorithm, mode, data) in inputs {
            try openssl.write("input", data)
            try openssl.succeed(
                ["pkeyutl", "-inkey", "key.der", "-keyform", "DER", "-in", "input", "-out", "theirs"] + mode)
            // Both operations are deterministic.
            #expect(try sign(key, algorithm, data).get() == openssl.read("theirs"))
        }
    }

    @Test func rsaCiphertextsInteroperateBothWays() throws {
        let key = try openssl.makeKey(.rsa)
        let (half, secret) = (try publicKey(key), Data("secret".utf8))
        try openssl.write("plaintext", secret)
        var schemes: [(SecKeyAlgorithm, [String])] = [(.rsaEncryptionPKCS1, ["rsa_padding_mode:pkcs1"])]
        for digest in Self.digests {
            schemes.append(
                (
                    try algorithm("rsaEncryptionOAEP\(digest)"),
                    ["rsa_padding_mode:oaep", "rsa_oaep_md:\(digest)", "rsa_mgf1_md:\(digest)"]
                ))
        }
        for (algorithm, options) in schemes {
            let there = options.flatMap { ["-pkeyopt", $0] } + ["-keyform", "DER"]
            let name = "\(algorithm.rawValue)"
            try openssl.succeed(
                ["pkeyutl", "-encrypt", "-pubin", "-inkey", "public.der", "-in", "plaintext", "-out", "theirs"]
                    + there)
            #expect(try decrypt(key, algorithm, openssl.read("theirs")).get() == secret, "\(name)")
            try openssl.write("ours", encrypt(half, algorithm, secret).get())
            try openssl.succeed(["pkeyutl", "-decrypt", "-inkey", "key.der", "-in", "ours", "-out", "opened"] + there)
            #expect(try openssl.read("opened") == secret, "\(name)")
        }
    }

    @Test(arguments: KeyKind.curves) func keyExchangeGivesTheSameSecretAsOpenSSL_SK06(kind: KeyKind) throws {
        let ours = try kind.make()
        try openssl.write(publicKey: ours, kind, "peer.der")
        let theirs = try openssl.makeKey(kind)
        try openssl.succeed(
            "pkeyutl", "-derive", "-inkey", "key.der", "-keyform", "DER", "-peerkey", "peer.der", "-peerform", "DER",
            "-out", "secret")
        let secret = try openssl.read("secret")
        #expect(try exchange(ours, .ecdhKeyExchangeStandard, publicKey(theirs)).get() == secret)
        #expect(try exchange(ours, .ecdhKeyExchangeCofactor, publicKey(theirs)).get() == secret)
        for digest in Self.digests {
            let parameters: [String: Any] = ["requestedSize": 90, "sharedInfo": Data([1, 2, 3])]
            let derived = try openssl.derive(secret, digest, info: Data([1, 2, 3]), byteCount: 90)
            for name in ["ecdhKeyExchangeStandardX963", "ecdhKeyExchangeCofactorX963"] {
                let result = try exchange(ours, algorithm(name + digest), publicKey(theirs), parameters)
                #expect(try result.get() == derived, "\(name)\(digest)")
            }
        }
    }
}
