// SPDX-License-Identifier: Apache-2.0

// A program that uses Apple's API only: it stores a token and reads it back. test_sdk.py builds it with the SDK.

import Foundation
import Security

let rule = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .userPresence, nil)
let item: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail", kSecAttrAccount: "ada"]
let secret: [CFString: Any] = [kSecValueData: Data("a token".utf8), kSecAttrAccessControl: rule as Any]
var result: CFTypeRef?
var status = SecItemAdd(item.merging(secret) { $1 } as CFDictionary, nil)
if [errSecSuccess, errSecDuplicateItem].contains(status) {
    status = SecItemCopyMatching(item.merging([kSecReturnData: true]) { $1 } as CFDictionary, &result)  // prompts
}
guard let token = result as? Data else {
    print("no token: \(SecCopyErrorMessageString(status, nil) as String? ?? "") (\(status))")
    exit(1)
}
print(String(decoding: token, as: UTF8.self))
