// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TestSupport
import Testing

/// HKDF: `derive` is one block of Expand, `combining` is Extract and then Expand (RFC 5869).
@Suite struct DerivationTests {
    /// The appendix of RFC 5869, cases 1 to 3: the first block is `HMAC(PRK, info ‖ 01)`. This verifies the formula
    /// in `expand` below.
    @Test(arguments: [
        (
            "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5", "f0f1f2f3f4f5f6f7f8f9",
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
        ),
        (
            "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
            """
            b0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecf\
            d0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff
            """,
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"
        ),
        (
            "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04", "",
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
        ),
    ])
    func theFirstBlockOfExpandIsThePublishedOne(_ pseudorandomKey: String, info: String, block: String) throws {
        #expect(try expand(key(hex(pseudorandomKey)), info: hex(info)) == hex(block))
    }

    private func expand(_ key: SymmetricKey, info: [UInt8]) throws -> [UInt8] {
        try key.authenticationCode(info + [1])
    }

    @Test(
        arguments: ["", "metadata", "class key", "\u{fc}"], [[], [0], [1, 2, 3], [UInt8](repeating: 9, count: 100)])
    func derivingExpandsLabelZeroContext(_ label: String, context: [UInt8]) throws {
        let root = try key(filledWith: 3)
        let derived = try root.derive(label, context: context)
        #expect(try derived.secret.copyBytes() == expand(root, info: Array(label.utf8) + [0] + context))
    }

    @Test func labelAndContextAreSeparated() throws {
        let root = try key(filledWith: 3)
        let a = try root.derive("ab", context: [0x63])
        let b = try root.derive("abc", context: [])
        let c = try root.derive("a", context: [0x62, 0x63])
        #expect(Set([a, b, c].map { $0.secret.copyBytes() }).count == 3)
    }

    @Test func anotherKeyDerivesAnotherKey() throws {
        #expect(try key(filledWith: 3).derive("x").secret != key(filledWith: 4).derive("x").secret)
    }

    // MARK: - Combining secrets

    @Test func combiningExtractsLengthPrefixedPartsAndExpands() throws {
        let parts: [[UInt8]] = [Array(1...32), [7, 8], []]
        let joined: [UInt8] = [0, 32] + Array(1...32) + [0, 2, 7, 8] + [0, 0]
        let extracted = try key(filledWith: 0).authenticationCode(joined)
        let expected = try expand(key(extracted), info: Array("wrap".utf8) + [0])
        #expect(try SymmetricKey.combining(parts.map { SecretBytes($0) }, label: "wrap").secret.copyBytes() == expected)
    }

    @Test func combiningDependsOnOrderLengthsAndLabel() throws {
        let lists: [[[UInt8]]] = [
            [], [[]], [[], []], [[1, 2], [3, 4]], [[3, 4], [1, 2]], [[1], [2, 3, 4]], [[1, 2, 3, 4]],
            [[1, 2, 3], [4]],
            [[1, 2], [], [3, 4]], [[], [1, 2], [3, 4]], [[1, 2], [3, 4], []], [[1, 2, 0], [3, 4]],
            [[0, 1, 2], [3, 4]],
            // A part that contains the encoding of another part's length.
            [[1, 0, 1, 2]], [[1], [2]], [[0, 1, 1], [2]],
        ]
        var seen: Set<[UInt8]> = []
        for list in lists {
            for label in ["a", "b"] {
                let combined = try SymmetricKey.combining(list.map { SecretBytes($0) }, label: label)
                #expect(seen.insert(combined.secret.copyBytes()).inserted, "\(list) \(label)")
            }
        }
    }

    @Test func combiningNeedsEveryPart() throws {
        let parts = [Array(1...32), Array(33...64), Array(65...96)].map { SecretBytes($0 as [UInt8]) }
        let whole = try SymmetricKey.combining(parts, label: "wrap").secret
        for index in parts.indices {
            var fewer = parts
            fewer.remove(at: index)
            #expect(try SymmetricKey.combining(fewer, label: "wrap").secret != whole)
        }
    }
}
