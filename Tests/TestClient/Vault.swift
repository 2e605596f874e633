// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthentication
import Security

/// Keeps a secret and a key of the enclave that only the fingers enrolled at that time open.
struct Vault {
    private let name: String
    private let context = LAContext()

    /// The reason is what the prompt shows.
    init(_ name: String, reason: String = "") {
        self.name = name
        context.localizedReason = reason
    }

    /// Stores the line on standard input as the secret, makes the key, and prints both statuses.
    func fill() {
        let secret = Data((readLine() ?? "").utf8)
        let kept = SecItemAdd(
            [
                kSecClass: kSecClassGenericPassword, kSecAttrAccount: name, kSecValueData: secret,
                kSecAttrAccessControl: rule([.biometryCurrentSet]) as Any,
            ] as CFDictionary, nil)
        var problem: Unmanaged<CFError>?
        let key = SecKeyCreateRandomKey(
            [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
                kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
                kSecPrivateKeyAttrs: [
                    kSecAttrIsPermanent: true, kSecAttrApplicationTag: Data(name.utf8),
                    kSecAttrAccessControl: rule([.privateKeyUsage, .biometryCurrentSet]) as Any,
                ] as [CFString: Any],
            ] as CFDictionary, &problem)
        print("kept \(kept), key \(key == nil ? "\(problem?.takeRetainedValue() as Any)" : "made")")
    }

    /// Prints the status of reading the secret, and the secret.
    func open() {
        var result: CFTypeRef?
        let status = SecItemCopyMatching(
            [
                kSecClass: kSecClassGenericPassword, kSecAttrAccount: name, kSecReturnData: true,
                kSecUseAuthenticationContext: context,
            ] as CFDictionary, &result)
        print("opened \(status) \((result as? Data).map { String(decoding: $0, as: UTF8.self) } ?? "nothing")")
    }

    /// Signs with the key, and prints whether the signature is valid for its public half.
    func stamp() {
        var result: CFTypeRef?
        let status = SecItemCopyMatching(
            [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: Data(name.utf8),
                kSecAttrKeyClass: kSecAttrKeyClassPrivate, kSecReturnRef: true, kSecUseAuthenticationContext: context,
            ] as CFDictionary, &result)
        guard status == errSecSuccess, let key = result as? SecKey, let publicKey = SecKeyCopyPublicKey(key) else {
            return print("no key: \(status)")
        }
        let (algorithm, message) = (SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256, Data("message".utf8) as CFData)
        var problem: Unmanaged<CFError>?
        guard let signature = SecKeyCreateSignature(key, algorithm, message, &problem) else {
            return print(problem.map { "refused: \($0.takeRetainedValue() as NSError)" } ?? "refused")
        }
        print(SecKeyVerifySignature(publicKey, algorithm, message, signature, nil) ? "signed" : "another signature")
    }

    /// Makes a key of the enclave without a condition, asks for its private half in every form, and signs with it.
    func export() {
        let key = SecKeyCreateRandomKey(
            [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
                kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
                kSecPrivateKeyAttrs: [
                    kSecAttrIsPermanent: true, kSecAttrApplicationTag: Data(name.utf8),
                    kSecAttrAccessControl: rule([.privateKeyUsage]) as Any,
                ] as [CFString: Any],
            ] as CFDictionary, nil)
        guard let key else { return print("no key") }
        print("representation \(SecKeyCopyExternalRepresentation(key, nil).map { "\($0)" } ?? "nothing")")
        for (form, returned) in [("data", kSecReturnData), ("attributes", kSecReturnAttributes)] {
            var result: CFTypeRef?
            let status = SecItemCopyMatching(
                [
                    kSecClass: kSecClassKey, kSecAttrApplicationTag: Data(name.utf8),
                    kSecAttrKeyClass: kSecAttrKeyClassPrivate, returned: true,
                ] as CFDictionary, &result)
            let data = result as? Data ?? (result as? [CFString: Any])?[kSecValueData] as? Data
            print("\(form) \(status) \(data.map { "\($0.count) bytes" } ?? "nothing")")
        }
        stamp()
    }

    private func rule(_ flags: SecAccessControlCreateFlags) -> SecAccessControl? {
        SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, flags, nil)
    }
}
