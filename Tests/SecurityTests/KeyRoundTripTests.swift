// SPDX-License-Identifier: Apache-2.0

import Security
import Testing

/// Round trips between the two halves of a pair, with every algorithm.
@Suite struct KeyRoundTripTests {
    private static let message = Data("A message that is signed.".utf8)

    /// Input of a length that the algorithm accepts.
    private func input(_ name: String, _ key: SecKey) -> Data {
        if name.contains("Message") { return Self.message }
        if name.hasSuffix("Raw"), !name.contains("PKCS1") {
            return Data([0]) + Data(repeating: 7, count: SecKeyGetBlockSize(key) - 1)
        }
        for (digest, count) in [("SHA1", 20), ("SHA224", 28), ("SHA256", 32), ("SHA384", 48), ("SHA512", 64)]
        where name.hasSuffix(digest) { return Data(repeating: 0x5a, count: count) }
        return Data(repeating: 0x5a, count: 33)
    }

    @Test(arguments: KeyKind.all) func everySignatureVerifies_SK04(kind: KeyKind) throws {
        let key = try kind.make()
        let other = try publicKey(key)
        for (name, algorithm) in keyAlgorithms + [("ecdsaSignatureRFC4754", oldAlgorithm)]
        where SecKeyIsAlgorithmSupported(key, .sign, algorithm) {
            let data = input(name, key)
            let signature = try sign(key, algorithm, data).get()
            #expect(try verify(other, algorithm, data, signature) == errSecSuccess, "\(name)")
            // Changes the first byte, because ECDSA ignores the last bytes of a digest that is longer than the curve.
            var changed = data
            changed[0] ^= 1
            #expect(try verify(other, algorithm, changed, signature) == errSecVerifyFailed, "\(name)")
            if kind.isRSA {
                #expect(try verify(key, algorithm, data, signature) == errSecSuccess, "\(name)")
                #expect(signature.count == 256)
            }
            if name.contains("RFC4754") { #expect(signature.count == 2 * SecKeyGetBlockSize(key)) }
        }
    }

    @Test(arguments: KeyKind.all) func everyCiphertextDecrypts_SK07(kind: KeyKind) throws {
        let key = try kind.make()
        let other = try publicKey(key)
        for (name, algorithm) in keyAlgorithms where SecKeyIsAlgorithmSupported(other, .encrypt, algorithm) {
            let plaintext = input(name, key)
            let ciphertext = try encrypt(other, algorithm, plaintext).get()
            #expect(try decrypt(key, algorithm, ciphertext).get() == plaintext, "\(name)")
            if name.hasSuffix("AESGCM") {
                for size in [0, 1, 100_000] {
                    let long = Data(repeating: 3, count: size)
                    #expect(try decrypt(key, algorithm, encrypt(other, algorithm, long).get()).get() == long, "\(name)")
                }
            }
        }
    }

    @Test(arguments: KeyKind.curves) func bothSidesDeriveTheSameSecret_SK06(kind: KeyKind) throws {
        let (one, two) = (try kind.make(), try kind.make())
        for (name, algorithm) in keyAlgorithms where name.hasPrefix("ecdh") {
            let parameters: [String: Any] = [
                SecKeyKeyExchangeParameter.requestedSize.rawValue as String: 77,
                SecKeyKeyExchangeParameter.sharedInfo.rawValue as String: Data("both".utf8),
            ]
            let left = try exchange(one, algorithm, publicKey(two), parameters).get()
            let right = try exchange(two, algorithm, publicKey(one), parameters).get()
            #expect(left == right, "\(name)")
            #expect(left.count == (name.contains("X963") ? 77 : (kind.bitCount + 7) / 8), "\(name)")
        }
    }
}
