// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SignInVerification

struct CBORReaderTests {
    private static func failure(_ bytes: [UInt8]) -> CBORReader.Failure? {
        do throws(CBORReader.Failure) {
            _ = try CBORReader.read(bytes)
            return nil
        } catch {
            return error
        }
    }

    /// Examples of RFC 8949, appendix A, in the canonical form.
    @Test(
        arguments: [
            ([0x00], .integer(0)), ([0x17], .integer(23)), ([0x18, 0x18], .integer(24)), ([0x18, 0x64], .integer(100)),
            ([0x19, 0x03, 0xe8], .integer(1000)), ([0x1a, 0x00, 0x0f, 0x42, 0x40], .integer(1_000_000)),
            ([0x1b, 0, 0, 0, 0xe8, 0xd4, 0xa5, 0x10, 0x00], .integer(1_000_000_000_000)), ([0x20], .integer(-1)),
            ([0x29], .integer(-10)), ([0x38, 0x63], .integer(-100)), ([0x39, 0x03, 0xe7], .integer(-1000)),
            ([0xf4], .bool(false)), ([0xf5], .bool(true)), ([0xf6], .null), ([0x40], .bytes([])),
            ([0x44, 1, 2, 3, 4], .bytes([1, 2, 3, 4])), ([0x60], .text("")), ([0x61, 0x61], .text("a")),
            ([0x62, 0xc3, 0xbc], .text("\u{fc}")), ([0x80], .array([])), ([0xa0], .map([])),
            ([0x82, 0x01, 0x81, 0x02], .array([.integer(1), .array([.integer(2)])])),
            (
                [0xa2, 0x01, 0x02, 0x03, 0x04],
                .map([
                    CBORValue.Entry(key: .integer(1), value: .integer(2)),
                    CBORValue.Entry(key: .integer(3), value: .integer(4)),
                ])
            ),
        ] as [([UInt8], CBORValue)])
    func canonicalValuesAreRead(_ bytes: [UInt8], _ value: CBORValue) throws {
        #expect(try CBORReader.read(bytes) == value)
        #expect(Self.failure(bytes + [0]) == .malformed, "another value follows")
        for count in 0..<bytes.count { #expect(Self.failure(Array(bytes[..<count])) == .malformed) }
    }

    /// Valid CBOR that has another encoding, or is of no kind that authenticators send.
    @Test(
        arguments: [
            ([0x18, 0x17], .notCanonical), ([0x19, 0x00, 0xff], .notCanonical),
            ([0x1a, 0, 0, 0xff, 0xff], .notCanonical), ([0x1b, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff], .notCanonical),
            ([0x38, 0x10], .notCanonical), ([0x58, 0x01, 0x00], .notCanonical), ([0x78, 0x01, 0x61], .notCanonical),
            ([0x98, 0x01, 0x00], .notCanonical), ([0xb8, 0x01, 0x00, 0x00], .notCanonical),
            // Indefinite lengths, and the byte that ends them.
            ([0x5f, 0x41, 0x00, 0xff], .malformed), ([0x7f, 0x61, 0x61, 0xff], .malformed),
            ([0x9f, 0x00, 0xff], .malformed), ([0xbf, 0x00, 0x00, 0xff], .malformed), ([0xff], .malformed),
            // Tags, undefined, simple values, floating-point numbers, reserved numbers.
            ([0xc0, 0x60], .malformed), ([0xd8, 0x20, 0x60], .malformed), ([0xf7], .malformed), ([0xe0], .malformed),
            ([0xf8, 0xff], .malformed), ([0xf9, 0x3c, 0x00], .malformed), ([0xfa, 0x47, 0xc3, 0x50, 0x00], .malformed),
            ([0xfb, 0x3f, 0xf1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a], .malformed), ([0x1c], .malformed),
            ([0xfc], .malformed),
            // Not UTF-8; a number that has no place in 64 bits with a sign; keys that are neither numbers nor texts.
            ([0x61, 0xff], .malformed), ([0x1b, 0x80, 0, 0, 0, 0, 0, 0, 0], .malformed),
            ([0x3b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], .malformed), ([0xa1, 0x40, 0x00], .malformed),
            ([0xa1, 0x80, 0x00], .malformed), ([0xa1, 0xf5, 0x00], .malformed),
            // The same key twice, and keys in another order.
            ([0xa2, 0x01, 0x02, 0x01, 0x02], .notCanonical),
            ([0xa2, 0x61, 0x61, 0x00, 0x61, 0x61, 0x00], .notCanonical),
            ([0xa2, 0x03, 0x00, 0x01, 0x00], .notCanonical), ([0xa2, 0x20, 0x00, 0x01, 0x00], .notCanonical),
            ([0xa2, 0x62, 0x61, 0x61, 0x00, 0x61, 0x62, 0x00], .notCanonical),
        ] as [([UInt8], CBORReader.Failure)])
    func otherEncodingsAreRefused(_ bytes: [UInt8], _ failure: CBORReader.Failure) {
        #expect(Self.failure(bytes) == failure)
    }

    @Test(arguments: [0x40, 0x60, 0x80, 0xa0] as [UInt8])
    func lengthsBeyondTheEndAreRefusedBeforeMemoryIsTaken(_ major: UInt8) {
        for length: [UInt8] in [
            [major | 24, 0xff], [major | 25, 0xff, 0xff], [major | 26, 0xff, 0xff, 0xff, 0xff],
            [major | 27, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            [major | 27, 0x7f] + [UInt8](repeating: 0xff, count: 7),
        ] {
            #expect([.malformed, .tooMany].contains(Self.failure(length)))
            #expect([.malformed, .tooMany].contains(Self.failure(length + [0x00])))
        }
    }

    @Test func depthAndNumberOfValuesAreLimited() {
        let limit = CBORReader.depthLimit
        #expect(Self.failure([UInt8](repeating: 0x81, count: limit) + [0x00]) == nil)
        #expect(Self.failure([UInt8](repeating: 0x81, count: limit + 1) + [0x00]) == .tooDeep)
        #expect(Self.failure([UInt8](repeating: 0x81, count: 100_000)) == .tooDeep)
        let most = CBORReader.valueLimit - 1
        #expect(Self.failure([0x98, UInt8(most)] + [UInt8](repeating: 0, count: most)) == nil)
        #expect(Self.failure([0x99, 0x01, 0x00] + [UInt8](repeating: 0, count: 256)) == .tooMany)
    }
}
