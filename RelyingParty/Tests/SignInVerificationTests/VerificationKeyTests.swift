// SPDX-License-Identifier: Apache-2.0

import RelyingPartyCrypto
import Testing

@testable import SignInVerification

/// Keys of EdDSA and RS256 in the form of COSE; those of ES256 are in `AuthenticatorDataTests`.
struct VerificationKeyTests {
    private static func keys(_ name: String) throws -> VerificationKey {
        try AttestationObject(Vectors.value(name, "attestationObject")).credential.key
    }

    private static func read(_ entries: [(Int64, CBORValue)]) -> VerificationError? {
        let map = CBORValue.map(entries.map { CBORValue.Entry(key: .integer($0.0), value: $0.1) })
        do throws(VerificationError) {
            _ = try COSEKey.read(map)
            return nil
        } catch {
            return error
        }
    }

    private static func refusal(_ algorithm: SignatureAlgorithm, _ bytes: [UInt8]) -> VerificationError? {
        do throws(VerificationError) {
            _ = try VerificationKey(algorithm: algorithm, bytes: bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test func keysOfEd25519HaveExactlyTheirParameters() throws {
        let x = try Self.keys("packed.EdDSA").bytes
        #expect(x.count == 32)
        let right: [(Int64, CBORValue)] = [(1, .integer(1)), (3, .integer(-8)), (-1, .integer(6)), (-2, .bytes(x))]
        #expect(Self.read(right) == nil)
        for (index, value) in [
            (0, CBORValue.integer(2)), (1, .integer(-7)), (1, .integer(-257)), (1, .integer(-9)), (2, .integer(7)),
            (2, .integer(1)), (3, .bytes(x + [0])), (3, .bytes(Array(x.dropLast()))), (3, .text("x")), (3, .bool(true)),
        ] {
            var wrong = right
            wrong[index].1 = value
            #expect(Self.read(wrong) == .publicKey, "\(wrong[index])")
        }
        for index in right.indices {
            var wrong = right
            wrong.remove(at: index)
            #expect(Self.read(wrong) == .publicKey)
        }
        #expect(Self.read(right + [(-3, .bytes(x))]) == .publicKey)
        #expect(Self.read(right + [(-4, .bytes(x))]) == .publicKey, "a private part")
    }

    /// RFC 8032, section 5.1.3, and the points whose order divides 8.
    @Test func pointsOfSmallOrderAndOthersThanTheirOneEncodingAreRefused() throws {
        let small = [
            "0100000000000000000000000000000000000000000000000000000000000000",
            "0000000000000000000000000000000000000000000000000000000000000000",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            // y is the prime, and more than it.
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ]
        for digits in small {
            var bytes = Vectors.bytes(digits)
            #expect(bytes.count == 32 && Self.refusal(.eddsa, bytes) == .publicKey)
            // The other x.
            bytes[31] |= 0x80
            #expect(Self.refusal(.eddsa, bytes) == .publicKey)
        }
        #expect(Self.refusal(.eddsa, try Self.keys("packed.EdDSA").bytes) == nil)
    }

    @Test func keysOfRSAHaveExactlyTheirParameters() throws {
        let modulus = { (count: Int, first: UInt8) in [first] + [UInt8](repeating: 0xa5, count: count - 1) }
        let right: [(Int64, CBORValue)] = [
            (1, .integer(3)), (3, .integer(-257)), (-1, .bytes(modulus(256, 0x80))), (-2, .bytes([1, 0, 1])),
        ]
        #expect(Self.read(right) == nil)
        for accepted in [modulus(256, 0xff), modulus(257, 1), modulus(512, 0xff), modulus(384, 0x7f)] {
            var other = right
            other[2].1 = .bytes(accepted)
            #expect(Self.read(other) == nil)
        }
        for (index, value) in [
            (0, CBORValue.integer(2)), (1, .integer(-258)), (1, .integer(-37)), (1, .integer(-65535)),
            // 2,047 and 4,097 bits, 1,024 bits, a leading zero, an even number, nothing.
            (2, .bytes(modulus(256, 0x7f))), (2, .bytes(modulus(513, 1))), (2, .bytes(modulus(128, 0xff))),
            (2, .bytes([0] + modulus(256, 0x80))), (2, .bytes(modulus(256, 0x80).dropLast() + [0xa4])), (2, .bytes([])),
            (2, .integer(5)), (3, .bytes([3])), (3, .bytes([1])), (3, .bytes([])), (3, .bytes([0, 1, 0, 1])),
            (3, .bytes([1, 0, 0])), (3, .bytes(modulus(256, 0x80))), (3, .integer(65537)),
        ] {
            var wrong = right
            wrong[index].1 = value
            #expect(Self.read(wrong) == .publicKey, "\(index)")
        }
        for index in right.indices {
            var wrong = right
            wrong.remove(at: index)
            #expect(Self.read(wrong) == .publicKey)
        }
        #expect(Self.read(right + [(-3, .bytes([1]))]) == .publicKey, "a private part")
    }

    /// Every stored form has one encoding.
    @Test(arguments: ["packed.ES256", "packed.RS256", "packed.EdDSA"])
    func aStoredKeyIsReadAgainAndNoOtherBytesAre(_ name: String) throws {
        let key = try Self.keys(name)
        #expect(try VerificationKey(algorithm: key.algorithm, bytes: key.bytes) == key)
        #expect(try key.identifier == LibCrypto.sha256(key.bytes))
        for other in SignatureAlgorithm.allCases where other != key.algorithm {
            #expect(Self.refusal(other, key.bytes) == .publicKey)
        }
        for wrong in [[], key.bytes + [0], Array(key.bytes.dropLast()), Array(key.bytes.dropFirst())] {
            #expect(Self.refusal(key.algorithm, wrong) == .publicKey)
        }
        guard key.algorithm == .rs256 else { return }
        // All but the modulus is compared. The first bits of the modulus decide about its length.
        for index in Array(0..<33) + Array((key.bytes.count - 6)..<key.bytes.count) {
            var changed = key.bytes
            changed[index] ^= 1
            #expect(Self.refusal(.rs256, changed) == .publicKey || index == 32, "\(index)")
        }
    }

    @Test(arguments: ["packed.ES256", "packed.RS256", "packed.EdDSA"])
    func everyChangedByteOfASignatureIsRefused(_ name: String) throws {
        let key = try Self.keys(name)
        let (data, json) = try (
            Vectors.value(name, "assertion-authenticatorData"), Vectors.value(name, "assertion-clientDataJSON")
        )
        let (signature, signed) = try (
            Vectors.value(name, "assertion-signature"), data + (try LibCrypto.sha256(json))
        )
        #expect(key.isValid(signature, for: signed))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(!key.isValid(changed, for: signed))
        }
        for wrong in [[], signature + [0], Array(signature.dropLast()), [0] + signature] {
            #expect(!key.isValid(wrong, for: signed))
        }
        for other in ["packed.ES256", "packed.RS256", "packed.EdDSA"] where other != name {
            #expect(!(try Self.keys(other).isValid(signature, for: signed)))
        }
    }
}
