// SPDX-License-Identifier: Apache-2.0

import KeyFormats
import Testing

/// Each format accepts exactly one encoding of a key and rejects all others.
@Suite struct StrictReadingTests {
    private static func ofEveryKind() throws -> [PortablePublicKey] {
        try [.rsa2048, .p256, .p384, .p521].map { try key($0) }
    }

    /// Deterministic mutations: a bit of each byte flipped, each byte removed or duplicated, truncation at each byte,
    /// and leading or trailing bytes.
    private static func mutants(_ bytes: [UInt8], step: Int = 1) -> [[UInt8]] {
        var mutants: [[UInt8]] = [
            [], bytes + [0], bytes + [0x20], bytes + [0x0a, 0x0a], [0x20] + bytes, bytes + bytes,
        ]
        for index in stride(from: 0, to: bytes.count, by: step) {
            var flipped = bytes
            flipped[index] ^= 1 << UInt8(index % 8)
            var shorter = bytes
            shorter.remove(at: index)
            var longer = bytes
            longer.insert(bytes[index], at: index)
            mutants += [flipped, shorter, longer, Array(bytes[..<index])]
        }
        return mutants
    }

    /// Checks that every accepted mutant is written exactly as it was read, and that at least one mutant is rejected.
    private static func check<Form: Equatable>(
        _ mutants: [Form], _ read: (Form) throws(KeyFormatError) -> PortablePublicKey,
        _ write: (PortablePublicKey) throws -> Form
    ) {
        var refused = 0
        for mutant in mutants {
            do throws(KeyFormatError) {
                let key = try read(mutant)
                let written = try? write(key)
                #expect(written == mutant, "\(mutant)")
            } catch {
                refused += 1
            }
        }
        #expect(refused > 0)
    }

    @Test func mutatedBytesAreRejectedOrAnotherKey() throws {
        for key in try Self.ofEveryKind() {
            Self.check(
                Self.mutants(key.externalRepresentation),
                { (bytes) throws(KeyFormatError) in try PortablePublicKey(externalRepresentation: bytes) },
                { $0.externalRepresentation })
            Self.check(
                Self.mutants(key.der), { (bytes) throws(KeyFormatError) in try PortablePublicKey(der: bytes) },
                { $0.der })
        }
    }

    @Test func mutatedTextIsRejectedOrAnotherKey() throws {
        for key in try Self.ofEveryKind() {
            let pem = Self.mutants(Array(key.pem.utf8)).map { String(decoding: $0, as: UTF8.self) }
            // PEM without its last line break is accepted, but written with it.
            Self.check(
                pem.filter { $0 != key.pem.dropLast() },
                { (text) throws(KeyFormatError) in try PortablePublicKey(pem: text) }, { $0.pem })
            let lines = try Self.mutants(Array(key.openSSH(comment: "a b").utf8))
                .map { String(decoding: $0, as: UTF8.self) }
            for line in lines {
                guard let (read, comment) = try? PortablePublicKey.readOpenSSH(line) else { continue }
                #expect(try read.openSSH(comment: comment) == line, "\(line)")
            }
            #expect(lines.contains { (try? PortablePublicKey.readOpenSSH($0)) == nil })
        }
    }

    @Test func mutatedMembersAreRejectedOrAnotherKey() throws {
        for key in try Self.ofEveryKind() {
            for (name, value) in key.jwk {
                let mutants = Self.mutants(Array(value.utf8)).map { bytes in
                    key.jwk.merging([name: String(decoding: bytes, as: UTF8.self)]) { $1 }
                }
                Self.check(
                    mutants, { (members) throws(KeyFormatError) in try PortablePublicKey(jwk: members) }, { $0.jwk })
            }
        }
    }

    // MARK: - Single rules

    @Test func pemWithAnotherLabelIsRejected() throws {
        let pem = try key(.p256).pem
        for label in ["PRIVATE KEY", "EC PRIVATE KEY", "CERTIFICATE", "RSA PUBLIC KEY", "public key"] {
            let other = pem.replacing("PUBLIC KEY", with: label)
            #expect(code { () throws(KeyFormatError) in try PortablePublicKey(pem: other) } == .wrongLabel, "\(label)")
        }
        #expect(code { () throws(KeyFormatError) in try PortablePublicKey(pem: "key:\n" + pem) } == .malformed)
        let ended = pem.replacing("END PUBLIC", with: "END PRIVATE")
        #expect(code { () throws(KeyFormatError) in try PortablePublicKey(pem: ended) } == .malformed)
    }

    @Test func pemAcceptsLFAndCRLFLineEndings() throws {
        let key = try key(.p256)
        #expect(try PortablePublicKey(pem: key.pem.replacing("\n", with: "\r\n")) == key)
        #expect(try PortablePublicKey(pem: String(key.pem.dropLast())) == key)
        let oneLine = key.pem.split(separator: "\n")
        let joined = [oneLine[0], oneLine[1...2].joined()[...], oneLine[3]].joined(separator: "\n")
        #expect(code { () throws(KeyFormatError) in try PortablePublicKey(pem: joined) } == .malformed)
    }

    @Test func openSSHLineIsReadStrictly() throws {
        let line = try key(.p384).openSSH(comment: "x")
        func refusal(_ line: String) -> KeyFormatError.Code? {
            code { () throws(KeyFormatError) in try PortablePublicKey(openSSH: line) }
        }
        #expect(refusal(line) == nil && refusal(line + "\n") == nil && refusal(line + "\r\n") == nil)
        #expect(refusal("no-pty " + line) == .unsupported, "options")
        #expect(refusal("ssh-ed25519 AAAA") == .unsupported)
        #expect(refusal(line.replacing("nistp384 ", with: "nistp256 ")) == .malformed, "type of another curve")
        #expect(refusal(line.replacing(" ", with: "  ")) == .malformed)
        #expect(refusal(line + "\n" + line) == .invalidComment, "two lines")
        #expect(refusal(String(line.dropLast())) == .invalidComment, "a space without a comment")
        #expect(refusal("ecdsa-sha2-nistp384") == .malformed)
    }

    @Test func commentsWithLineBreaksOrControlCharactersAreRejected() throws {
        let key = try key(.p256)
        for comment in ["a\nssh-rsa AAAA", "a\rb", "\u{1b}[2J", "a\u{2028}b", "\0"] {
            #expect(throws: KeyFormatError.self) { try key.openSSH(comment: comment) }
        }
        #expect(try PortablePublicKey.readOpenSSH(key.openSSH(comment: "é \u{1f511}")).comment == "é \u{1f511}")
    }

    @Test func pointOffTheCurveIsRejected() throws {
        for choice in [KeyChoice.p256, .p384, .p521] {
            var point = try key(choice).externalRepresentation
            point[point.count - 1] ^= 1
            #expect(
                code { () throws(KeyFormatError) in try PortablePublicKey(externalRepresentation: point) }
                    == .invalidKey)
            point[0] = 2
            #expect(
                code { () throws(KeyFormatError) in try PortablePublicKey(externalRepresentation: point) }
                    == .malformed, "compressed points are not accepted")
        }
        #expect(
            code { () throws(KeyFormatError) in try PortablePublicKey(externalRepresentation: [4, 1, 2]) }
                == .malformed)
    }

    @Test func pointOfAnotherCurveIsRejected() throws {
        // The algorithm identifier of P-384 followed by a point of P-256.
        let small = try key(.p256).der
        let large = try key(.p384).der
        let mixed = Array(large.prefix(23)) + small.suffix(68)
        #expect(code { () throws(KeyFormatError) in try PortablePublicKey(der: mixed) } == .malformed)
    }
}
