// SPDX-License-Identifier: Apache-2.0

import LatchkeyCertificates
import LatchkeyModel
import Security
import TestSupport
import Testing

/// Malformed certificates and PKCS#12 files are refused quickly and without a crash.
@Suite struct MalformedCertificateTests {
    private let made: TestCertificates

    init() throws { made = try .shared() }

    private func isRefused(_ bytes: [UInt8]) -> Bool { SecCertificateCreateWithData(nil, Data(bytes) as NSData) == nil }

    @Test(arguments: TestCertificates.Kind.allCases)
    func everyPrefixAndEverySuffixIsRefused(kind: TestCertificates.Kind) throws {
        let whole = Array(try made.der(kind))
        #expect(!isRefused(whole))
        for count in 0..<whole.count {
            #expect(isRefused(Array(whole.prefix(count))), "\(count)")
            #expect(isRefused(Array(whole.suffix(count))), "\(count)")
        }
    }

    @Test func trailingBytesAreRefused() throws {
        let whole = Array(try made.der(.leaf))
        for more in [[0], [0, 0], [0x30, 0], whole] as [[UInt8]] { #expect(isRefused(whole + more)) }
        #expect(isRefused([0] + whole))
        #expect(isRefused(Array(try made.run(["x509", "-in", "leaf.pem"]))), "PEM is not DER")
    }

    @Test func otherEncodingsOfTheSameCertificateAreRefused() throws {
        let whole = Array(try made.der(.leaf))
        // The length of the outer SEQUENCE takes two bytes.
        try #require(whole[1] == 0x82)
        let contents = Array(whole.dropFirst(4))
        #expect(!isRefused([0x30, 0x82] + whole[2...3] + contents))
        #expect(isRefused([0x30, 0x83, 0] + whole[2...3] + contents), "a length that is not in its shortest form")
        #expect(isRefused([0x30, 0x80] + contents + [0, 0]), "the indefinite length of BER")
    }

    @Test func hugeInputIsRefusedQuickly() throws {
        #expect(isRefused([UInt8](repeating: 0, count: Limits.secretBytes + 1)))
        #expect(isRefused([UInt8](repeating: 0x30, count: Limits.secretBytes)))
        #expect(isRefused([0x30, 0x84, 0xff, 0xff, 0xff, 0xff]))
        #expect(isRefused([0x30, 0x83, 0x0f, 0xff, 0xfb] + [UInt8](repeating: 0, count: 0xffffb)))
    }

    @Test(arguments: [1, 10, 29, 30, 31, 100, 1000])
    func deepNestingIsRefused(depth: Int) {
        var bytes = der(0x05)
        for _ in 0..<depth { bytes = der(0x30, bytes) }
        #expect(isRefused(bytes))
    }

    @Test func serialNumbersOfMoreThan37BytesAreRefused() throws {
        let certificate = Array(try made.der(.leaf))
        // Serial number 7, after the version.
        let place = try #require(
            certificate.indices.first { certificate[$0...].starts(with: [0xa0, 3, 2, 1, 2, 2, 1, 7]) })
        for count in [1, 20, 37, 38, 100] {
            let serial = der(0x02, [1] + [UInt8](repeating: 7, count: count - 1))
            let toBeSigned = Array(certificate[8..<(place + 5)]) + serial + certificate[(place + 8)...]
            let length = (Int(certificate[6]) << 8 | Int(certificate[7])) + serial.count - 3
            let body = der(0x30, Array(toBeSigned.prefix(length)))
            let changed = der(0x30, body, Array(toBeSigned.dropFirst(length)))
            #expect(isRefused(changed) == (count > 37), "\(count)")
        }
    }

    @Test func aSubjectNearTheCertificateSizeLimitIsRead() throws {
        let small = try made.certificate(.rsa).certificate
        let pair = der(0x31, der(0x30, [0x06, 0x03, 0x55, 0x04, 0x03], der(0x13, Array("a b".utf8))))
        let long = der(0x30, (0..<30_000).flatMap { _ in pair })
        // Subject and issuer have the same bytes; the subject comes last.
        let place = try #require(Data(small.der).range(of: Data(small.subject), options: .backwards))
        let length = Int(small.der[6]) << 8 | Int(small.der[7])
        let body = der(
            0x30, Array(small.der[8..<place.lowerBound]), long, Array(small.der[place.upperBound..<(8 + length)]))
        let certificate = try #require(Certificate(der: der(0x30, body, Array(small.der[(8 + length)...]))))
        #expect(certificate.subject == long)
        #expect(certificate.subjectTexts.count == 30_000)
        let match = try CertificateMatch(
            [kSecMatchSubjectContains: "c", kSecMatchCaseInsensitive: true] as NSDictionary)
        #expect(!match.accepts(SecCertificate(certificate)))
    }

    // MARK: - Mutations

    @Test func mutatedCertificatesAreReadOrRefused() throws {
        var random = Mutation(seed: 1)
        var accepted = 0
        for kind in [TestCertificates.Kind.ellipticCurve, .rsa, .leaf, .nameless] {
            let whole = Array(try made.der(kind))
            for _ in 0..<4000 {
                let bytes = random.mutated(whole)
                guard let certificate = Certificate(der: bytes) else { continue }
                accepted += 1
                #expect(certificate.der == bytes)
                #expect(certificate.publicKeyHash.count == 20)
                #expect((1...37).contains(certificate.serialNumber.count))
                _ = SecCertificateCopyKey(SecCertificate(certificate))
            }
        }
        // Most bytes of a certificate are its key and its signature, where any value is valid.
        #expect(accepted > 100)
        #expect(accepted < 15_000)
    }

    @Test func mutatedPKCS12FilesAreReadOrRefused() throws {
        var random = Mutation(seed: 2)
        let passphrase = SecretBytes(Array("secret".utf8))
        for options in [[], ["-legacy"], ["-keypbe", "NONE", "-certpbe", "NONE"]] {
            let whole = Array(try made.pkcs12(.leaf, name: "name", more: ["-iter", "2"] + options))
            for _ in 0..<1500 {
                let bytes = random.mutated(whole)
                if case .success(let identities) = PKCS12.open(
                    bytes, passphrase: passphrase, iterations: 1000, publicKeyHash: publicKeyHash(ofPKCS8:))
                {
                    #expect(identities.count == 1, "the authenticated part was not changed")
                }
                _ = PKCS12.testOnlyOpenUnauthenticated(
                    bytes, passphrase: passphrase, iterations: 1000, publicKeyHash: publicKeyHash(ofPKCS8:))
            }
        }
    }
}

/// Mutates bytes, reproducibly for a seed.
struct Mutation {
    private var numbers: SeededGenerator

    init(seed: UInt64) { numbers = SeededGenerator(seed: seed) }

    /// Applies one to four mutations: flips a bit, sets, inserts or removes a byte, repeats or removes a range.
    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...numbers.next(below: 4) where !bytes.isEmpty {
            let place = numbers.next(below: bytes.count)
            switch numbers.next(below: 6) {
            case 0: bytes[place] ^= 1 << UInt8(numbers.next(below: 8))
            case 1: bytes[place] = UInt8(truncatingIfNeeded: numbers.next())
            case 2: bytes.insert(UInt8(truncatingIfNeeded: numbers.next()), at: place)
            case 3: bytes.remove(at: place)
            case 4:
                bytes.insert(
                    contentsOf: bytes[place..<min(bytes.count, place + numbers.next(below: 40))],
                    at: numbers.next(below: bytes.count))
            default: bytes.removeSubrange(place..<min(bytes.count, place + numbers.next(below: 40)))
            }
        }
        return bytes
    }
}
