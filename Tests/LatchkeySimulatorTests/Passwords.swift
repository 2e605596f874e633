// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication
import Security

/// Adds a password with an access control.
func add(_ account: String, _ secret: String = "secret", _ flags: SecAccessControlCreateFlags = []) -> OSStatus {
    let rule = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil)
    let item: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: account,
        kSecValueData as String: Data(secret.utf8), kSecAttrAccessControl as String: rule as Any,
    ]
    return SecItemAdd(item as CFDictionary, nil)
}

/// Reads a password; may prompt.
func read(_ account: String) -> (status: OSStatus, secret: String?) {
    var result: CFTypeRef?
    let query: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: account,
        kSecReturnData as String: true,
    ]
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    return (status, (result as? Data).map { String(decoding: $0, as: UTF8.self) })
}

/// Evaluates a policy and returns the code of its error, nil for success. Without a reply until the time limit,
/// returns `invalidDimensions`.
func evaluate(
    _ policy: LAPolicy = .deviceOwnerAuthentication, _ context: LAContext = LAContext()
) async -> LAError.Code? {
    let (replies, continuation) = AsyncStream.makeStream(of: LAError.Code?.self)
    context.evaluatePolicy(policy, localizedReason: "test") { _, error in
        continuation.yield((error as? LAError)?.code)
        continuation.finish()
    }
    for await code in replies { return code }
    return .invalidDimensions
}
