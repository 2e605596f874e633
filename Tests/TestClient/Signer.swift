// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Signs with a key of the keychain, drops it, and stays until standard input ends.
struct Signer {
    private let tag: String

    init(_ tag: String) { self.tag = tag }

    func run() {
        print(signs() ? "signed" : "failed")
        fflush(nil)
        _ = readLine()
    }

    private func signs() -> Bool {
        let query: [String: Any] = [
            kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: Data(tag.utf8),
            kSecAttrKeyClass as String: kSecAttrKeyClassPrivate, kSecReturnRef as String: true,
        ]
        var result: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess, let key = result as? SecKey,
            let publicKey = SecKeyCopyPublicKey(key)
        else { return false }
        let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
        let message = Data("message".utf8) as CFData
        guard let signature = SecKeyCreateSignature(key, algorithm, message, nil) else { return false }
        return SecKeyVerifySignature(publicKey, algorithm, message, signature, nil)
    }
}
