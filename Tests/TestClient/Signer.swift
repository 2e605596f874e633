// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Signs with a key of the keychain, releases it, and waits until standard input ends; or decrypts its standard input.
struct Signer {
    private let tag: String

    init(_ tag: String) { self.tag = tag }

    func run() {
        print(signs() ? "signed" : "failed")
        fflush(nil)
        _ = readLine()
    }

    /// Reads a line of base64, decrypts it and prints the text.
    func decrypt() {
        guard let key = key(), let sealed = readLine().flatMap({ Data(base64Encoded: $0) }) else {
            return print("failed")
        }
        let algorithm =
            [SecKeyAlgorithm.eciesEncryptionStandardX963SHA256AESGCM, .rsaEncryptionOAEPSHA256AESGCM]
            .first { SecKeyIsAlgorithmSupported(key, .decrypt, $0) }
        let opened = algorithm.flatMap { SecKeyCreateDecryptedData(key, $0, sealed as CFData, nil) as Data? }
        print(opened.map { String(decoding: $0, as: UTF8.self) } ?? "failed")
    }

    private func key() -> SecKey? {
        let query: [String: Any] = [
            kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: Data(tag.utf8),
            kSecAttrKeyClass as String: kSecAttrKeyClassPrivate, kSecReturnRef as String: true,
        ]
        var result: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess else { return nil }
        return result as? SecKey
    }

    private func signs() -> Bool {
        guard let key = key(), let publicKey = SecKeyCopyPublicKey(key) else { return false }
        let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
        let message = Data("message".utf8) as CFData
        guard let signature = SecKeyCreateSignature(key, algorithm, message, nil) else { return false }
        return SecKeyVerifySignature(publicKey, algorithm, message, signature, nil)
    }
}
