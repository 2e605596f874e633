// SPDX-License-Identifier: Apache-2.0

import Security
import Testing

/// Names and values of the algorithms, and which keys support them.
@Suite struct KeyAlgorithmTests {
    @Test func everyAlgorithmHasApplesValue() throws {
        let values = try Table("security.tsv").values("algorithm")
        #expect(values.count == 87)
        for (name, algorithm) in keyAlgorithms { #expect(values[name] == algorithm.rawValue as String, "\(name)") }
        let old = "ecdsaSignatureRFC4754"
        #expect(Set(keyAlgorithms.map(\.0)) == Set(values.keys).subtracting([old]))
        #expect(values[old] == oldAlgorithm.rawValue as String)
        #expect(Set(values.values).count == 87)
    }

    @Test func algorithmsAreEqualByRawValue() {
        let made = SecKeyAlgorithm(rawValue: "algid:sign:RSA:raw")
        #expect(made == .rsaSignatureRaw)
        #expect(Set([made, .rsaSignatureRaw]).count == 1)
        #expect(made != .rsaEncryptionRaw)
    }

    /// Whether a key supports an algorithm, derived from the prefix of the algorithm's name.
    private func expected(_ name: String, _ operation: SecKeyOperationType, _ isRSA: Bool, _ isPrivate: Bool) -> Bool {
        switch operation {
        case .sign: isPrivate && name.hasPrefix(isRSA ? "rsaSignature" : "ecdsa")
        case .verify: isRSA ? name.hasPrefix("rsaSignature") : !isPrivate && name.hasPrefix("ecdsa")
        case .encrypt: !isPrivate && name.hasPrefix(isRSA ? "rsaEncryption" : "ecies")
        case .decrypt: isRSA ? name.hasPrefix("rsaEncryption") : isPrivate && name.hasPrefix("ecies")
        case .keyExchange: !isRSA && isPrivate && name.hasPrefix("ecdh")
        }
    }

    @Test(arguments: KeyKind.all) func algorithmSupportEqualsApples_SK05_T26_T27_T28(kind: KeyKind) throws {
        let key = try kind.make()
        let halves = [(key, true), (try publicKey(key), false)]
        let operations: [SecKeyOperationType] = [.sign, .verify, .encrypt, .decrypt, .keyExchange]
        for (name, algorithm) in keyAlgorithms + [("ecdsaSignatureRFC4754", oldAlgorithm)] {
            for (half, isPrivate) in halves {
                for operation in operations {
                    let isSupported = SecKeyIsAlgorithmSupported(half, operation, algorithm)
                    #expect(
                        isSupported == expected(name, operation, kind.isRSA, isPrivate),
                        "\(name) \(operation) private: \(isPrivate)")
                }
            }
        }
    }

    @Test(arguments: KeyKind.all) func unknownAlgorithmsAreSupportedByNoKey(kind: KeyKind) throws {
        let key = try kind.make()
        for name in [
            "", "algid:sign:RSA:raw-cc", "algid:sign:RSA:digest-PKCS1v15:MD5", "algid:encrypt:RSA:raw-cc", "x",
        ] {
            let algorithm = SecKeyAlgorithm(rawValue: name as CFString)
            #expect(!SecKeyIsAlgorithmSupported(key, .sign, algorithm))
            #expect(!SecKeyIsAlgorithmSupported(key, .decrypt, algorithm))
            #expect(try sign(key, algorithm, Data([1])).status == errSecParam)
        }
    }

    @Test func operationTypesHaveApplesRawValues() {
        let operations: [SecKeyOperationType] = [.sign, .verify, .encrypt, .decrypt, .keyExchange]
        #expect(operations.map(\.rawValue) == [0, 1, 2, 3, 4])
    }
}
