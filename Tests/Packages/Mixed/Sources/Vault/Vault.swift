// SPDX-License-Identifier: Apache-2.0

// On Apple systems, importing Foundation also makes the names of Security available.
import Foundation

/// Stores one token in the keychain.
public struct Vault {
    private let service: String

    /// A vault of `service`.
    public init(service: String) { self.service = service }

    private var query: [CFString: Any] { [kSecClass: kSecClassGenericPassword, kSecAttrService: service] }

    /// Replaces the token. Returns the keychain's status.
    public func keep(_ token: String) -> OSStatus {
        SecItemDelete(query as CFDictionary)
        var item = query
        item[kSecValueData] = Data(token.utf8)
        return SecItemAdd(item as CFDictionary, nil)
    }

    /// The token, or nil if there is none.
    public var token: String? {
        var item = query
        item[kSecReturnData] = true
        var result: CFTypeRef?
        guard SecItemCopyMatching(item as CFDictionary, &result) == errSecSuccess, let data = result as? Data else {
            return nil
        }
        return String(decoding: data, as: UTF8.self)
    }
}
