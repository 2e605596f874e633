// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import Testing

/// The parameters with which apps create a key of the Secure Enclave.
func enclaveParameters(
    _ flags: SecAccessControlCreateFlags = .privateKeyUsage, tag: String? = "signing", isPermanent: Bool? = nil,
    protection: CFString = kSecAttrAccessibleWhenUnlockedThisDeviceOnly, context: AnyObject? = nil
) -> Query {
    var half: Query = [
        kSecAttrAccessControl as String: SecAccessControlCreateWithFlags(nil, protection, flags, nil) as Any
    ]
    if let tag { half[kSecAttrApplicationTag as String] = Data(tag.utf8) }
    if let isPermanent { half[kSecAttrIsPermanent as String] = isPermanent }
    if let context { half[kSecUseAuthenticationContext as String] = context }
    return [
        kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
        kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave, kSecPrivateKeyAttrs as String: half,
    ]
}

extension Query {
    /// A query for every key with a tag.
    static func key(tag: String = "signing") -> Query {
        [kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: Data(tag.utf8)]
    }

    /// A query for every key.
    static var anyKey: Query { [kSecClass as String: kSecClassKey] }

    /// This query with `kSecReturnRef`.
    var object: Query { with(kSecReturnRef, true) }
}

/// The status of creating a key.
func statusOfMaking(_ parameters: Query) throws -> OSStatus {
    try outcome { SecKeyCreateRandomKey(parameters as CFDictionary, $0) }.status
}

/// The key that a query finds.
func findKey(_ query: Query) throws -> SecKey {
    var result: CFTypeRef?
    let status = SecItemCopyMatching(query.object as CFDictionary, &result)
    try #require(status == errSecSuccess)
    return try #require(result as? SecKey)
}

/// The error of signing with a key; nil when it succeeds.
func errorOfSigning(_ key: SecKey) -> NSError? {
    var error: Unmanaged<CFError>?
    let signature = SecKeyCreateSignature(
        key, .ecdsaSignatureMessageX962SHA256, Data("message".utf8) as CFData, &error)
    return signature == nil ? error?.takeRetainedValue() : nil
}

/// The error domain of Apple's LocalAuthentication.
let authenticationDomain = "com.apple.LocalAuthentication"
