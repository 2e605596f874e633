// SPDX-License-Identifier: Apache-2.0

import LatchkeyCertificates
import LatchkeyCrypto
import LatchkeyModel
import Security
import TestSupport
import Testing

/// Private keys in the encodings that other programs write: scalars with too few or too many leading zeros, public keys
/// that are absent or compressed, missing parameters.
@Suite struct ForeignKeyTests {
    /// A key whose scalar begins with zero bytes, and its numbers.
    private struct Numbers {
        let curve: Curve
        let key: PrivateKey
        let scalar: [UInt8]
        let point: [UInt8]

        init(_ curve: Curve) throws {
            self.curve = curve
            scalar = [UInt8](repeating: 0, count: 3) + (1...UInt8(curve.byteCount - 3)).map { $0 ^ 0x80 }
            key = try #require(PrivateKey(scalar: SecretBytes(scalar), curve: curve))
            point = key.publicKey.externalRepresentation
        }

        var x: ArraySlice<UInt8> { point[1...curve.byteCount] }
        var parity: UInt8 { point[point.count - 1] & 1 }
        /// Compressed, uncompressed and hybrid.
        var forms: [[UInt8]] { [[2 | parity] + x, point, [6 | parity] + point.dropFirst()] }
    }

    private static let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
    private static let rsaEncryption: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]

    private func name(_ curve: Curve) -> [UInt8] {
        switch curve {
        case .p256: [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
        case .p384: [0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22]
        case .p521: [0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x23]
        }
    }

    /// A `PrivateKeyInfo` with an `ECPrivateKey`.
    private func file(
        _ curve: Curve, _ scalar: [UInt8], parameters: Bool = true, point: [UInt8]? = nil, outer: [UInt8]? = nil
    ) -> [UInt8] {
        let inner = der(
            0x30, [2, 1, 1], der(4, scalar), parameters ? der(0xa0, name(curve)) : [],
            point.map { der(0xa1, der(3, [0], $0)) } ?? [])
        return der(
            0x30, [2, 1, outer == nil ? 0 : 1], der(0x30, Self.ecPublicKey, name(curve)), der(4, inner),
            outer.map { der(0x81, [0], $0) } ?? [])
    }

    private func read(_ file: [UInt8]) -> PrivateKey? { PrivateKey(pkcs8: SecretBytes(file)) }

    // MARK: - Scalars

    @Test(arguments: Curve.allCases) func scalarMayHaveAnyNumberOfLeadingZeros(curve: Curve) throws {
        let numbers = try Numbers(curve)
        let openssl = try OpenSSLCommand()
        let digits = Array(numbers.scalar.drop { $0 == 0 })
        for zeros in [0, 1, 2, 3, 4, 7, 300] {
            for parameters in [true, false] {
                for point in [nil, numbers.point] {
                    let scalar = [UInt8](repeating: 0, count: zeros) + digits
                    let file = file(curve, scalar, parameters: parameters, point: point)
                    let key = try #require(read(file), "\(zeros) \(parameters)")
                    #expect(key.externalRepresentation == numbers.key.externalRepresentation)
                    guard curve == .p256, zeros < 5 else { continue }
                    try openssl.write("key.der", Data(file))
                    let info = try openssl.output([
                        "pkey", "-inform", "DER", "-in", "key.der", "-pubout", "-outform", "DER",
                    ])
                    #expect(Array(info) == key.publicKey.subjectPublicKeyInfo)
                }
            }
        }
    }

    @Test(arguments: Curve.allCases) func scalarOutOfRangeIsRejectedAtAnyLength(curve: Curve) throws {
        let numbers = try Numbers(curve)
        let width = curve.byteCount
        let ones = [UInt8](repeating: 0xff, count: width)
        let scalars: [[UInt8]] = [
            [], [0], [UInt8](repeating: 0, count: width), [UInt8](repeating: 0, count: width + 9), ones, [0] + ones,
            [1] + numbers.scalar, [1, 0] + numbers.scalar,
        ]
        for scalar in scalars { #expect(read(file(curve, scalar)) == nil, "\(scalar)") }
    }

    // MARK: - Public keys

    @Test(arguments: Curve.allCases) func publicKeyMayHaveAnyForm(curve: Curve) throws {
        let numbers = try Numbers(curve)
        let forms = numbers.forms.map(Optional.some) + [nil]
        for inner in forms {
            for outer in forms {
                let key = read(file(curve, numbers.scalar, point: inner, outer: outer))
                #expect(key?.externalRepresentation == numbers.key.externalRepresentation)
            }
        }
    }

    @Test(arguments: Curve.allCases) func publicKeyOfAnotherKeyIsRejectedInAnyForm(curve: Curve) throws {
        let numbers = try Numbers(curve)
        let foreign = try PrivateKey.generate(curve).publicKey.externalRepresentation
        let sign = numbers.parity ^ 1
        let (coordinates, own) = (Array(numbers.point.dropFirst()), numbers.point)
        let others: [[UInt8]] = [
            [], [0], foreign, [2] + foreign[1...curve.byteCount], [2 | sign] + numbers.x, [6 | sign] + coordinates,
            [4] + numbers.x, Array(own.dropLast()), own + [0], coordinates, [5] + coordinates,
        ]
        for other in others {
            #expect(read(file(curve, numbers.scalar, point: other)) == nil)
            #expect(read(file(curve, numbers.scalar, outer: other)) == nil)
            #expect(read(file(curve, numbers.scalar, point: own, outer: other)) == nil)
            #expect(read(file(curve, numbers.scalar, point: other, outer: own)) == nil)
        }
    }

    @Test func curveInsideMustBeTheCurveOutside() throws {
        let numbers = try Numbers(.p256)
        let inner = der(0x30, [2, 1, 1], der(4, numbers.scalar), der(0xa0, name(.p384)))
        let other = der(0x30, [2, 1, 0], der(0x30, Self.ecPublicKey, name(.p256)), der(4, inner))
        #expect(read(other) == nil)
    }

    // MARK: - RSA

    private func rsaFile(_ key: PrivateKey, null: [UInt8], outer: [UInt8]? = nil) -> [UInt8] {
        der(
            0x30, [2, 1, outer == nil ? 0 : 1], der(0x30, Self.rsaEncryption, null),
            der(4, key.externalRepresentation.copyBytes()), outer.map { der(0x81, [0], $0) } ?? [])
    }

    @Test func rsaKeyMayLackParametersAndStateItsPublicKey() throws {
        let key = try PrivateKey.generateRSA(bitCount: 1024)
        let own = key.publicKey.externalRepresentation
        let other = try PrivateKey.generateRSA(bitCount: 1024).publicKey.externalRepresentation
        for null in [[5, 0], []] as [[UInt8]] {
            #expect(read(rsaFile(key, null: null))?.publicKey == key.publicKey)
            #expect(read(rsaFile(key, null: null, outer: own))?.publicKey == key.publicKey)
            #expect(read(rsaFile(key, null: null, outer: other)) == nil)
        }
        #expect(read(rsaFile(key, null: [5, 1, 0])) == nil)
        #expect(read(rsaFile(key, null: [5, 0, 5, 0])) == nil)
    }

    // MARK: - Files of other programs

    private func importing(_ file: [UInt8]) -> (status: OSStatus, items: [[String: Any]]) {
        var items: CFArray?
        let options = [kSecImportExportPassphrase: "secret"] as CFDictionary
        let status = SecPKCS12Import(Data(file) as CFData, options, &items)
        return (status, items as? [[String: Any]] ?? [])
    }

    private func keys(_ items: [[String: Any]]) throws -> [Data] {
        try items.map { item in
            var key: SecKey?
            let identity = try #require(item[kSecImportItemIdentity as String] as? SecIdentity)
            #expect(SecIdentityCopyPrivateKey(identity, &key) == errSecSuccess)
            return try external(try #require(key))
        }
    }

    @Test func filesOfOtherProgramsAreImported() throws {
        let text = try String(contentsOf: Repository.vectors("key-files.tsv"), encoding: .utf8)
        let rows = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { $0.split(separator: "\t").map(String.init) }
        #expect(rows.count == 5)
        for row in rows {
            let (status, items) = importing(Array(try #require(Data(base64Encoded: row[3]))))
            #expect(status == errSecSuccess, "\(row[1])")
            #expect(try keys(items) == [Data(hex(row[2]))], "\(row[1])")
        }
    }

    /// A PKCS#12 file with these bags and a MAC, whose key `openssl` derives.
    private func authentic(_ bags: [[UInt8]]) throws -> [UInt8] {
        let openssl = try OpenSSLCommand()
        let data: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]
        let sha1: [UInt8] = [0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a]
        let safe = der(0x30, der(0x30, data, der(0xa0, der(4, der(0x30, bags.flatMap(\.self))))))
        // The passphrase in UTF-16 and its terminating zero (RFC 7292, appendix B.1); purpose 3 is the MAC.
        let passphrase = "secret".utf8.map { String(format: "00%02x", $0) }.joined() + "0000"
        let derived = try openssl.output([
            "kdf", "-keylen", "20", "-kdfopt", "digest:SHA1", "-kdfopt", "hexpass:" + passphrase, "-kdfopt",
            "hexsalt:0102030405060708", "-kdfopt", "iter:1", "-kdfopt", "id:3", "PKCS12KDF",
        ])
        let key = String(decoding: derived, as: UTF8.self).filter(\.isHexDigit)
        try openssl.write("safe.der", Data(safe))
        let mac = try openssl.output([
            "dgst", "-sha1", "-mac", "HMAC", "-macopt", "hexkey:" + key, "-binary", "safe.der",
        ])
        let macData = der(
            0x30, der(0x30, der(0x30, sha1, [5, 0]), der(4, Array(mac))), der(4, [1, 2, 3, 4, 5, 6, 7, 8]))
        return der(0x30, [2, 1, 3], der(0x30, data, der(0xa0, der(4, safe))), macData)
    }

    private func identity(_ kind: TestCertificates.Kind) throws -> [[UInt8]] {
        let made = try TestCertificates.shared()
        let key = try made.run(["pkcs8", "-topk8", "-nocrypt", "-in", "\(kind).key", "-outform", "DER"])
        return [safeBag(1, Array(key)), certificateBag(Array(try made.der(kind)))]
    }

    private func certificates(_ items: [[String: Any]]) throws -> [Data] {
        try items.map { item in
            let chain = try #require(item[kSecImportItemCertChain as String] as? [SecCertificate])
            return SecCertificateCopyData(try #require(chain.first)) as Data
        }
    }

    @Test func unreadableKeyDoesNotRefuseTheOthersOfItsFile_ot03() throws {
        let made = try TestCertificates.shared()
        let (leaf, root) = (try identity(.leaf), try identity(.root))
        let expected = [try made.der(.leaf), try made.der(.root)]
        let numbers = try Numbers(.p256)
        let edwards = der(0x30, [2, 1, 0], der(0x30, [0x06, 0x03, 0x2b, 0x65, 0x70]), der(4, der(4, numbers.scalar)))
        let locked = try made.run([
            "pkcs8", "-topk8", "-in", "intermediate.key", "-passout", "pass:other", "-iter", "1", "-outform", "DER",
        ])
        let bad = [
            safeBag(1, file(.p256, [0])), safeBag(1, file(.p256, numbers.scalar, point: [4])), safeBag(1, edwards),
            safeBag(2, Array(locked)), certificateBag(Array(try made.der(.units).dropLast())),
        ]
        for bag in bad {
            for bags in [[bag] + leaf + root, leaf + [bag] + root, leaf + root + [bag]] {
                let (status, items) = try importing(authentic(bags))
                #expect(status == errSecSuccess)
                #expect(try certificates(items) == expected)
            }
            // Without another identity the error says why there is none.
            let own = certificateBag(Array(try made.der(.intermediate)))
            #expect(try importing(authentic([bag, own])).status == errSecDecode)
            #expect(try importing(authentic([bag])).status == errSecDecode)
        }
    }

    @Test func workOfAnUnreadableKeyCountsForTheWholeFile() throws {
        let made = try TestCertificates.shared()
        let locked = try made.run([
            "pkcs8", "-topk8", "-in", "intermediate.key", "-passout", "pass:other", "-iter", "2", "-outform", "DER",
        ])
        let file = pkcs12(bags: try identity(.leaf) + [safeBag(2, Array(locked))])
        for (iterations, expected) in [(1, .tooMuchWork), (2, nil)] as [(UInt64, PKCS12.Refusal?)] {
            var refusal: PKCS12.Refusal?
            let opened = PKCS12.testOnlyOpenUnauthenticated(
                file, passphrase: SecretBytes(Array("secret".utf8)), iterations: iterations,
                publicKeyHash: publicKeyHash(ofPKCS8:))
            if case .failure(let given) = opened { refusal = given }
            #expect(refusal == expected)
        }
    }
}
