// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import Security
import TestSupport
import Testing

/// The exact format of ciphertexts, checked and created with the `openssl` command and the GHASH below.
@Suite struct KeyWireFormTests {
    private static let plaintext = Data("Forty-one bytes, so not a whole of blocks".utf8)
    private let openssl: OpenSSLCommand

    init() throws { openssl = try OpenSSLCommand() }

    private func schemes() throws -> [(name: String, algorithm: SecKeyAlgorithm)] {
        let schemes = keyAlgorithms.filter { $0.0.hasPrefix("ecies") }
        try #require(schemes.count == 18)
        return schemes.map { (name: $0.0, algorithm: $0.1) }
    }

    private func digest(_ name: String) throws -> String {
        try #require(["SHA1", "SHA224", "SHA256", "SHA384", "SHA512"].first { name.hasSuffix("\($0)AESGCM") })
    }

    /// The AES key and the nonce that behaviour SK-07 derives from a secret.
    private func secrets(_ name: String, _ secret: Data, _ point: Data, _ kind: KeyKind) throws -> (Data, Data) {
        let keyBytes = kind.bitCount <= 256 ? 16 : 32
        let isVariable = name.contains("VariableIV")
        let derived = try openssl.derive(
            secret, digest(name), info: point, byteCount: keyBytes + (isVariable ? 16 : 0))
        return (derived.prefix(keyBytes), isVariable ? derived.suffix(16) : Data(count: 16))
    }

    @Test(arguments: KeyKind.curves) func eciesIsPointThenCiphertextThenTag_SK07(kind: KeyKind) throws {
        let key = try openssl.makeKey(kind)
        let pointBytes = 1 + 2 * ((kind.bitCount + 7) / 8)
        for scheme in try schemes() {
            let sealed = try encrypt(publicKey(key), scheme.algorithm, Self.plaintext).get()
            #expect(sealed.count == pointBytes + Self.plaintext.count + 16, "\(scheme.name)")
            let point = Data(sealed.prefix(pointBytes))
            #expect(point.first == 4)
            // The recipient derives the secret from the ephemeral point.
            let ephemeral = try readKey(point, kind, isPrivate: false).get()
            try openssl.write(publicKey: ephemeral, kind, "peer.der")
            try openssl.succeed(
                "pkeyutl", "-derive", "-inkey", "key.der", "-keyform", "DER", "-peerkey", "peer.der", "-peerform",
                "DER", "-out", "secret")
            let (cipherKey, nonce) = try secrets(scheme.name, openssl.read("secret"), point, kind)
            let expected = try openssl.sealGCM(Self.plaintext, key: cipherKey, nonce: nonce, authenticating: Data())
            #expect(Data(sealed.dropFirst(pointBytes)) == expected, "\(scheme.name)")
        }
    }

    @Test(arguments: KeyKind.curves) func eciesFromAnIndependentImplementationDecrypts_SK07(kind: KeyKind) throws {
        let key = try kind.make()
        let ephemeral = try openssl.makeKey(kind)
        let point = try external(publicKey(ephemeral))
        try openssl.write(publicKey: key, kind, "peer.der")
        try openssl.succeed(
            "pkeyutl", "-derive", "-inkey", "key.der", "-keyform", "DER", "-peerkey", "peer.der", "-peerform", "DER",
            "-out", "secret")
        for scheme in try schemes() {
            let (cipherKey, nonce) = try secrets(scheme.name, openssl.read("secret"), point, kind)
            let sealed =
                try point + openssl.sealGCM(Self.plaintext, key: cipherKey, nonce: nonce, authenticating: Data())
            #expect(try decrypt(key, scheme.algorithm, sealed).get() == Self.plaintext, "\(scheme.name)")
        }
    }

    @Test(arguments: [(2048, 16), (4096, 32)])
    func oaepWithAESIsWrappedKeyThenCiphertextThenTag(bits: Int, keyBytes: Int) throws {
        let kind = KeyKind(bitCount: bits, isRSA: true)
        let key = try openssl.makeKey(kind)
        let half = try publicKey(key)
        let bound = try external(half)
        for digest in ["SHA1", "SHA224", "SHA256", "SHA384", "SHA512"] {
            let name = "rsaEncryptionOAEP\(digest)AESGCM"
            let algorithm = try #require(keyAlgorithms.first { $0.0 == name }?.1)
            let sealed = try encrypt(half, algorithm, Self.plaintext).get()
            #expect(sealed.count == bits / 8 + Self.plaintext.count + 16)
            let oaep = ["-pkeyopt", "rsa_padding_mode:oaep", "-pkeyopt", "rsa_oaep_md:\(digest)"]
            try openssl.write("wrapped", Data(sealed.prefix(bits / 8)))
            try openssl.succeed(
                ["pkeyutl", "-decrypt", "-inkey", "key.der", "-keyform", "DER", "-in", "wrapped", "-out", "unwrapped"]
                    + oaep)
            let sessionKey = try openssl.read("unwrapped")
            #expect(sessionKey.count == keyBytes)
            let expected = try openssl.sealGCM(
                Self.plaintext, key: sessionKey, nonce: Data(count: 16), authenticating: bound)
            #expect(Data(sealed.dropFirst(bits / 8)) == expected, "\(name)")

            let ownKey = Data(repeating: 0x42, count: keyBytes)
            try openssl.write("own", ownKey)
            try openssl.succeed(
                ["pkeyutl", "-encrypt", "-pubin", "-inkey", "public.der", "-keyform", "DER", "-in", "own", "-out", "w"]
                    + oaep)
            let body = try openssl.sealGCM(Self.plaintext, key: ownKey, nonce: Data(count: 16), authenticating: bound)
            #expect(try decrypt(key, algorithm, openssl.read("w") + body).get() == Self.plaintext, "\(name)")
        }
    }

    @Test func theIndependentAESGCMPassesThePublishedVector() throws {
        // The GCM specification, test case 6: a nonce of 60 bytes.
        let key = try bytes("feffe9928665731c6d6a8f9467308308")
        let plaintext = try bytes(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0d"
                + "e657ba637b39")
        let nonce = try bytes(
            "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728c3c0c95156809539fcf0e2429a6b525416aedbf5a0d"
                + "e6a57a637b39b")
        let associated = try bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2")
        let sealed = try openssl.sealGCM(plaintext, key: key, nonce: nonce, authenticating: associated)
        #expect(
            try sealed
                == bytes(
                    "8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca701e4a9a4fba43c90ccdcb281d48c7c6fd62875d2"
                        + "aca417034c34aee5" + "619cc5aefffe0bfa462af43c1699d050"))
    }

    private func bytes(_ digits: String) throws -> Data { Data(try hex(digits)) }
}

extension OpenSSLCommand {
    /// Writes a public key as SubjectPublicKeyInfo.
    func write(publicKey key: SecKey, _ kind: KeyKind, _ name: String) throws {
        let half = try #require(SecKeyCopyPublicKey(key))
        let form = try #require(PublicKey(Array(external(half)), type: kind.keyType))
        try write(name, Data(form.subjectPublicKeyInfo))
    }

    private func digits(_ data: Data) -> String { data.map { String(format: "%02x", $0) }.joined() }

    /// The X9.63 key derivation, computed by the `openssl` command.
    func derive(_ secret: Data, _ digest: String, info: Data, byteCount: Int) throws -> Data {
        try succeed(
            "kdf", "-keylen", "\(byteCount)", "-kdfopt", "digest:\(digest)", "-kdfopt", "hexkey:\(digits(secret))",
            "-kdfopt", "hexinfo:\(digits(info))", "-binary", "-out", "derived", "X963KDF")
        return try read("derived")
    }

    private func aes(_ mode: String, _ input: Data, key: Data, counter: Data? = nil) throws -> Data {
        try write("block", input)
        let start = counter.map { ["-iv", digits($0)] } ?? ["-nopad"]
        try succeed(
            ["enc", "-aes-\(key.count * 8)-\(mode)", "-K", digits(key), "-in", "block", "-out", "result"] + start)
        return try read("result")
    }

    /// Encrypts with AES-GCM (SP 800-38D), from AES of the `openssl` command and the GHASH below; returns the
    /// ciphertext and the 16-byte tag. `openssl enc` has no GCM mode, and libcrypto's GCM is part of what is tested.
    func sealGCM(_ plaintext: Data, key: Data, nonce: Data, authenticating associated: Data) throws -> Data {
        let hash = GHASH(key: try aes("ecb", Data(count: 16), key: key))
        let first =
            nonce.count == 12
            ? nonce + Data([0, 0, 0, 1]) : hash.run([nonce, Data(count: 8) + GHASH.length(nonce)])
        // One key stream gives the mask of the tag, then the ciphertext. The command increments all 128 bits of the
        // counter and GCM the last 32; the results differ only when those 32 bits overflow, about once in 10^9 runs.
        let stream = try aes("ctr", Data(count: 16) + plaintext, key: key, counter: first)
        let (mask, ciphertext) = (stream.prefix(16), Data(stream.dropFirst(16)))
        let sum = hash.run([associated, ciphertext, GHASH.length(associated) + GHASH.length(ciphertext)])
        return ciphertext + Data(zip(sum, mask).map { $0 ^ $1 })
    }
}

/// GHASH (SP 800-38D, section 6.4), computed bit by bit.
private struct GHASH {
    private let key: (UInt64, UInt64)

    init(key: Data) { self.key = GHASH.block(key) }

    private static func block(_ data: Data) -> (UInt64, UInt64) {
        let bytes = Array(data) + [UInt8](repeating: 0, count: 16 - data.count)
        return (bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }, bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// The number of bits, as eight bytes, big-endian.
    static func length(_ data: Data) -> Data { withUnsafeBytes(of: UInt64(data.count * 8).bigEndian) { Data($0) } }

    /// The hash of all parts, each padded with zeros to whole blocks.
    func run(_ parts: [Data]) -> Data {
        var sum: (UInt64, UInt64) = (0, 0)
        for part in parts {
            let bytes = Array(part)
            for start in stride(from: 0, to: bytes.count, by: 16) {
                let block = GHASH.block(Data(bytes[start..<min(start + 16, bytes.count)]))
                sum = multiply((sum.0 ^ block.0, sum.1 ^ block.1))
            }
        }
        return [sum.0, sum.1].reduce(Data()) { data, half in data + withUnsafeBytes(of: half.bigEndian) { Data($0) } }
    }

    private func multiply(_ x: (UInt64, UInt64)) -> (UInt64, UInt64) {
        var product: (UInt64, UInt64) = (0, 0)
        var factor = key
        for bit in 0..<128 {
            let isSet = (bit < 64 ? x.0 >> UInt64(63 - bit) : x.1 >> UInt64(127 - bit)) & 1 == 1
            if isSet { product = (product.0 ^ factor.0, product.1 ^ factor.1) }
            let carry = factor.1 & 1
            factor = (factor.0 >> 1, factor.1 >> 1 | factor.0 << 63)
            if carry == 1 { factor.0 ^= 0xe1 << 56 }
        }
        return product
    }
}
