// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthentication
import Security

extension Story {
    /// Makes a private key in a TPM and signs with it.
    func keyStaysInTheChip() throws {
        step("A private key is made in a TPM, which uses it only after an approval (.userPresence).")
        var error: Unmanaged<CFError>?
        let context = LAContext()
        let parameters: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
            kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
            kSecUseAuthenticationContext as String: context,
            kSecPrivateKeyAttrs as String: [
                kSecAttrAccessControl as String: SecAccessControlCreateWithFlags(
                    nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, .userPresence], nil) as Any
            ],
        ]
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, &error),
            let publicKey = SecKeyCopyPublicKey(key)
        else { throw DemoFailure("no key was made: \(String(describing: error?.takeRetainedValue()))") }
        try check(SecKeyCopyExternalRepresentation(key, nil) == nil, "the private key cannot be exported")
        let message = Data("a message".utf8) as CFData
        try withPerson("Press m (the enrolled finger).") { reason in
            context.localizedReason = reason
            var error: Unmanaged<CFError>?
            guard
                let signature = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message, &error)
            else { return "no signature (\(String(describing: error?.takeRetainedValue())))" }
            return SecKeyVerifySignature(publicKey, .ecdsaSignatureMessageX962SHA256, message, signature, nil)
                ? nil : "the signature is wrong"
        }
        done("the TPM signed; it is swtpm, a real implementation in software and not a chip")
    }
}
