// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TestSupport
import Testing

@testable import FuzzProperties

/// Keys are read strictly: one encoding, consistent numbers, no trailing bytes. What PKCS#8 leaves open for the sake of
/// other programs is in `ForeignKeyTests`.
@Suite struct KeyReadingTests {
    private func isRead(_ reader: KeyReader, _ bytes: [UInt8]) -> Bool {
        switch reader {
        case .rsaPublic: PublicKey(bytes, type: .rsa) != nil
        case .rsaPrivate: PrivateKey(SecretBytes(bytes), type: .rsa) != nil
        case .point: PublicKey(point: bytes) != nil
        case .curvePrivate:
            Curve.allCases.contains { PrivateKey(SecretBytes(bytes), type: .ellipticCurve($0)) != nil }
        case .publicKeyInfo: PublicKey(subjectPublicKeyInfo: bytes) != nil
        case .privateKeyInfo: PrivateKey(pkcs8: SecretBytes(bytes)) != nil
        case .signature: Curve.allCases.contains { ECDSASignature.raw(der: bytes, curve: $0) != nil }
        case .integratedEncryption: false
        }
    }

    private func seeds() throws -> [(name: String, reader: KeyReader, bytes: [UInt8])] {
        try Repository.inputs("key").map { name, bytes in
            (name, try #require(bytes.first.flatMap(KeyReader.init(rawValue:))), Array(bytes.dropFirst()))
        }
    }

    @Test func keysWrittenByOpenSSLAreRead() throws {
        let seeds = try seeds().filter { !$0.name.contains("bad") }
        #expect(seeds.count >= 19)
        for seed in seeds { #expect(isRead(seed.reader, seed.bytes), "\(seed.name)") }
    }

    @Test func truncatedKeysAreRejected_SK03() throws {
        for seed in try seeds() {
            for count in 0..<seed.bytes.count {
                #expect(!isRead(seed.reader, Array(seed.bytes[..<count])), "\(seed.name) \(count)")
            }
        }
    }

    @Test func trailingBytesAreRejected_SK03() throws {
        for seed in try seeds() {
            for more: [UInt8] in [[0], [1, 2, 3], [5, 0], seed.bytes] {
                #expect(!isRead(seed.reader, seed.bytes + more), "\(seed.name)")
            }
        }
    }

    @Test func keyIsRejectedByReadersOfOtherFormats_SK03_T25() throws {
        for seed in try seeds() {
            for reader in KeyReader.allCases where reader != seed.reader {
                #expect(!isRead(reader, seed.bytes), "\(seed.name) as \(reader)")
            }
        }
    }

    @Test func theCorpusAndItsMutationsSatisfyTheFuzzProperty() throws {
        try Repository.checkCorpus("key", mutations: 400) { name, bytes in
            let complaint = complaint(aboutKey: bytes)
            #expect(complaint == nil, "\(name): \(bytes)")
        }
        // Also what the first byte selects is arbitrary.
        var numbers = SeededGenerator(seed: 0)
        for (name, bytes) in try Repository.inputs("key") {
            for _ in 0..<40 {
                let changed = [UInt8(numbers.next(below: 256))] + bytes.dropFirst()
                #expect(complaint(aboutKey: changed) == nil, "\(name): \(changed)")
            }
        }
    }

    // MARK: - Curves

    @Test(arguments: Curve.allCases) func pointNotOnTheCurveIsRejected(curve: Curve) throws {
        var point = try PrivateKey.generate(curve).publicKey.externalRepresentation
        point[point.count - 1] ^= 1
        #expect(PublicKey(point: point) == nil)
        #expect(PublicKey(point: [4] + [UInt8](repeating: 0, count: point.count - 1)) == nil)
        #expect(PublicKey(point: [4] + [UInt8](repeating: 0xff, count: point.count - 1)) == nil)
    }

    @Test(arguments: Curve.allCases) func infinityAndCompressedPointsAreRejected(curve: Curve) throws {
        let point = try PrivateKey.generate(curve).publicKey.externalRepresentation
        #expect(PublicKey([0], type: .ellipticCurve(curve)) == nil)
        #expect(PublicKey([0] + [UInt8](repeating: 0, count: point.count - 1), type: .ellipticCurve(curve)) == nil)
        #expect(
            PublicKey([2 | point[point.count - 1] & 1] + point[1...curve.byteCount], type: .ellipticCurve(curve)) == nil
        )
        for first: UInt8 in [0, 2, 3, 5, 6, 7] { #expect(PublicKey(point: [first] + point.dropFirst()) == nil) }
    }

    @Test(arguments: Curve.allCases) func pointIsRejectedForAnotherCurve(curve: Curve) throws {
        let point = try PrivateKey.generate(curve).publicKey.externalRepresentation
        for other in Curve.allCases where other != curve {
            #expect(PublicKey(point, type: .ellipticCurve(other)) == nil)
        }
    }

    private func order(_ curve: Curve) throws -> [UInt8] {
        // FIPS 186-4, D.1.2.
        switch curve {
        case .p256: try hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        case .p384:
            try hex(
                "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973")
        case .p521:
            try hex(
                "01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03"
                    + "bb5c9b8899c47aebb6fb71e91386409")
        }
    }

    @Test(arguments: Curve.allCases) func scalarOutOfRangeIsRejected(curve: Curve) throws {
        var below = try order(curve)
        #expect(PrivateKey(scalar: SecretBytes(below), curve: curve) == nil)
        below[below.count - 1] += 1
        #expect(PrivateKey(scalar: SecretBytes(below), curve: curve) == nil)
        below[below.count - 1] -= 2
        #expect(PrivateKey(scalar: SecretBytes(below), curve: curve) != nil)
        let zero = [UInt8](repeating: 0, count: curve.byteCount)
        #expect(PrivateKey(scalar: SecretBytes(zero), curve: curve) == nil)
        #expect(PrivateKey(scalar: SecretBytes(zero.dropLast() + [1]), curve: curve) != nil)
        #expect(PrivateKey(scalar: SecretBytes(below.dropFirst()), curve: curve) == nil)
        #expect(PrivateKey(scalar: SecretBytes([0] + below), curve: curve) == nil)
    }

    @Test(arguments: Curve.allCases) func scalarAndPointOfDifferentKeysAreRejected(curve: Curve) throws {
        let (one, two) = (try PrivateKey.generate(curve), try PrivateKey.generate(curve))
        let scalar = one.externalRepresentation.copyBytes()[curve.pointBytes...]
        let mixed = two.publicKey.externalRepresentation + scalar
        #expect(PrivateKey(SecretBytes(mixed), type: .ellipticCurve(curve)) == nil)
    }

    @Test(arguments: Curve.allCases) func ellipticCurveKeyRoundTrips_T24(curve: Curve) throws {
        let key = try PrivateKey.generate(curve)
        let read = try #require(PrivateKey(key.externalRepresentation, type: key.type))
        #expect(read.publicKey == key.publicKey)
        #expect(PrivateKey(pkcs8: key.pkcs8)?.externalRepresentation == key.externalRepresentation)
        #expect(PublicKey(subjectPublicKeyInfo: key.publicKey.subjectPublicKeyInfo) == key.publicKey)
    }

    // MARK: - RSA

    /// Splits a DER SEQUENCE into its elements, independently of the reader under test; lengths up to 65,535.
    private func elements(_ sequence: [UInt8]) throws -> [[UInt8]] {
        func split(_ bytes: ArraySlice<UInt8>) throws -> (ArraySlice<UInt8>, ArraySlice<UInt8>) {
            let bytes = Array(bytes)
            let long = try #require(bytes.count > 1 ? bytes[1] : nil)
            let header = long < 0x80 ? 2 : 2 + Int(long & 0x7f)
            let count = long < 0x80 ? Int(long) : bytes[2..<header].reduce(0) { $0 << 8 | Int($1) }
            return (bytes[..<(header + count)], bytes[(header + count)...])
        }
        let header = sequence[1] < 0x80 ? 2 : 2 + Int(sequence[1] & 0x7f)
        var rest = sequence[header...]
        var result: [[UInt8]] = []
        while !rest.isEmpty {
            let (element, behind) = try split(rest)
            result.append(Array(element))
            rest = behind
        }
        return result
    }

    private func sequence(_ elements: [[UInt8]]) -> [UInt8] {
        let body = Array(elements.joined())
        return [0x30, 0x82, UInt8(body.count >> 8), UInt8(body.count & 0xff)] + body
    }

    @Test func rsaKeyRoundTrips_T24() throws {
        let key = try PrivateKey.generateRSA(bitCount: 1024)
        #expect(key.publicKey.bitCount == 1024)
        #expect(PrivateKey(key.externalRepresentation, type: .rsa)?.publicKey == key.publicKey)
        #expect(PrivateKey(pkcs8: key.pkcs8)?.externalRepresentation == key.externalRepresentation)
        #expect(PublicKey(key.publicKey.externalRepresentation, type: .rsa) == key.publicKey)
        #expect(PublicKey(subjectPublicKeyInfo: key.publicKey.subjectPublicKeyInfo) == key.publicKey)
    }

    @Test func inconsistentRSANumbersAreRejected() throws {
        let parts = try elements(Array(Repository.input("rsa-private", of: "key").dropFirst()))
        #expect(parts.count == 9)
        #expect(PrivateKey(SecretBytes(sequence(parts)), type: .rsa) != nil)
        for index in parts.indices {
            var changed = parts
            // Flips the second bit, so that odd numbers stay odd.
            changed[index][changed[index].count - 1] ^= 2
            #expect(PrivateKey(SecretBytes(sequence(changed)), type: .rsa) == nil, "number \(index)")
            var without = parts
            without.remove(at: index)
            #expect(PrivateKey(SecretBytes(sequence(without)), type: .rsa) == nil, "without number \(index)")
        }
        for index in parts.indices.dropFirst() {
            // One mebibyte: a computation with this number would take minutes.
            var long = parts
            long[index] = [2, 0x83, 0x10, 0, 0] + [UInt8](repeating: 0x7f, count: 1 << 20)
            let body = Array(long.joined())
            let header = [0x30, 0x83] + [16, 8, 0].map { UInt8(truncatingIfNeeded: body.count >> $0) }
            #expect(PrivateKey(SecretBytes(header + body), type: .rsa) == nil, "number \(index)")
        }
        var swapped = parts
        swapped.swapAt(4, 5)
        #expect(PrivateKey(SecretBytes(sequence(swapped)), type: .rsa) == nil)
    }

    @Test func integersAreReadStrictly() throws {
        let parts = try elements(Array(Repository.input("rsa-public", of: "key").dropFirst()))
        let exponents: [([UInt8], Bool)] = [
            ([2, 3, 1, 0, 1], true), ([2, 4, 0, 1, 0, 1], false), ([2, 1, 3], true), ([2, 1, 1], false),
            ([2, 1, 0], false), ([2, 1, 4], false), ([2, 1, 0x83], false), ([2, 0], false), ([2, 0x81, 1, 3], false),
            ([2, 9, 0, 0x80, 0, 0, 0, 0, 0, 0, 1], true), ([2, 9, 1, 0, 0, 0, 0, 0, 0, 0, 1], false),
            ([4, 1, 3], false),
        ]
        for (exponent, isAccepted) in exponents {
            let key = PublicKey([0x30, 0x81, UInt8(parts[0].count + exponent.count)] + parts[0] + exponent, type: .rsa)
            #expect((key != nil) == isAccepted, "\(exponent)")
        }
    }

    @Test(arguments: [(512, false), (1016, false), (1024, true), (2048, true), (8192, true), (8200, false)])
    func rsaKeySizesAreLimited(bits: Int, isAccepted: Bool) {
        let modulus: [UInt8] = [0, 0xff] + [UInt8](repeating: 0xff, count: bits / 8 - 1)
        let integer = [0x02, 0x82, UInt8(modulus.count >> 8), UInt8(modulus.count & 0xff)] + modulus
        // DER requires the shortest form of a length.
        let shortest = modulus.count < 256 ? [0x02, 0x81, UInt8(modulus.count)] + modulus : integer
        let body = (modulus.count < 128 ? [0x02, UInt8(modulus.count)] + modulus : shortest) + [2, 3, 1, 0, 1]
        let header: [UInt8] =
            body.count < 128
            ? [0x30, UInt8(body.count)]
            : body.count < 256
                ? [0x30, 0x81, UInt8(body.count)] : [0x30, 0x82, UInt8(body.count >> 8), UInt8(body.count & 0xff)]
        #expect((PublicKey(header + body, type: .rsa) != nil) == isAccepted)
    }

    @Test(arguments: [0, -1, 512, 1023, 1025, 2047, 4104, 65_536, Int.max, Int.min])
    func unsupportedSizesAreNotGenerated(bits: Int) {
        #expect(throws: Failure(.invalidParameter)) { try PrivateKey.generateRSA(bitCount: bits) }
    }

    @Test func rsaGenerationReportsProgressAndCanBeCancelled() throws {
        var calls = 0
        _ = try PrivateKey.generateRSA(bitCount: 1024) {
            calls += 1
            return true
        }
        #expect(calls > 0)
        #expect(throws: Failure(.internalFailure)) { try PrivateKey.generateRSA(bitCount: 2048) { false } }
    }
}
