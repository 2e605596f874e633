// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel

/// The keys and constants of a query, as Swift strings.
///
/// Every call compares the dictionary's keys with them several times. Comparing `NSString` objects, or converting a
/// constant to a Swift string each time, took longer than the daemon takes to answer.
enum QueryName {
    static let itemClass = kSecClass as String
    static let itemClasses = Dictionary(uniqueKeysWithValues: ItemClass.allCases.map { ($0.constant as String, $0) })
    static let identityClass = kSecClassIdentity as String
    static let useDataProtectionKeychain = kSecUseDataProtectionKeychain as String

    static let returnData = kSecReturnData as String
    static let returnAttributes = kSecReturnAttributes as String
    static let returnReference = kSecReturnRef as String
    static let returnPersistentReference = kSecReturnPersistentRef as String

    static let matchLimit = kSecMatchLimit as String
    static let matchValidOnDate = kSecMatchValidOnDate as String
    static let matchLimitOne = kSecMatchLimitOne as String
    static let matchLimitAll = kSecMatchLimitAll as String

    static let useAuthenticationContext = kSecUseAuthenticationContext as String
    static let useAuthenticationUI = kSecUseAuthenticationUI as String
    static let useAuthenticationUISkip = kSecUseAuthenticationUISkip as String
    // Literals, because the constants are deprecated and using them would be a warning.
    static let useAuthenticationUIAllow = "u_AuthUIA"
    static let useAuthenticationUIFail = "u_AuthUIF"
    static let useNoAuthenticationUI = "u_NoAuthUI"
    static let useOperationPrompt = "u_OpPrompt"

    static let valueData = kSecValueData as String
    static let valuePersistentReference = kSecValuePersistentRef as String
    static let valueReference = kSecValueRef as String

    static let accessControl = kSecAttrAccessControl as String
    static let accessible = kSecAttrAccessible as String
    static let synchronizable = kSecAttrSynchronizable as String
}
