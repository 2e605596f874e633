// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Names and values of Apple's constants, compared with Tests/Vectors/security.tsv by `SecurityConstantTests`.

/// Access control of an item: a `SecAccessControl`. Cannot be combined with a different `kSecAttrAccessible`.
/// Apple: `kSecAttrAccessControl`.
nonisolated(unsafe) public let kSecAttrAccessControl: CFString = "accc"
/// Access group of an item: a string. Default of a new item: the app's first group; default of a search: all groups of
/// the app. Any other group returns `errSecMissingEntitlement`. Apple: `kSecAttrAccessGroup`.
nonisolated(unsafe) public let kSecAttrAccessGroup: CFString = "agrp"
/// Access group of items on smart cards. No app is a member here, so using it returns `errSecMissingEntitlement`.
/// Apple: `kSecAttrAccessGroupToken`.
nonisolated(unsafe) public let kSecAttrAccessGroupToken: CFString = "com.apple.token"
/// When an item can be read: one of the `kSecAttrAccessible...` values, by default `kSecAttrAccessibleWhenUnlocked`.
/// Apple: `kSecAttrAccessible`.
nonisolated(unsafe) public let kSecAttrAccessible: CFString = "pdmn"
/// Account name of a password: a string, part of the primary key. Apple: `kSecAttrAccount`.
nonisolated(unsafe) public let kSecAttrAccount: CFString = "acct"
/// Comment that the user may edit: a string. Apple: `kSecAttrComment`.
nonisolated(unsafe) public let kSecAttrComment: CFString = "icmt"
/// When an item was added: a date, set by the keychain. Apple: `kSecAttrCreationDate`.
nonisolated(unsafe) public let kSecAttrCreationDate: CFString = "cdat"
/// Creator code of a password: a number. Apple: `kSecAttrCreator`.
nonisolated(unsafe) public let kSecAttrCreator: CFString = "crtr"
/// Kind of a password, as the user sees it: a string. Apple: `kSecAttrDescription`.
nonisolated(unsafe) public let kSecAttrDescription: CFString = "desc"
/// Attribute of a generic password that the app defines: `Data`, not part of the primary key. Apple: `kSecAttrGeneric`.
nonisolated(unsafe) public let kSecAttrGeneric: CFString = "gena"
/// Whether an item should be hidden from the user: a Boolean; stored, without further effect.
/// Apple: `kSecAttrIsInvisible`.
nonisolated(unsafe) public let kSecAttrIsInvisible: CFString = "invi"
/// Whether an item records that no password is to be used: a Boolean; stored, without further effect.
/// Apple: `kSecAttrIsNegative`.
nonisolated(unsafe) public let kSecAttrIsNegative: CFString = "nega"
/// Name of an item that the user sees: a string. Apple: `kSecAttrLabel`.
nonisolated(unsafe) public let kSecAttrLabel: CFString = "labl"
/// When an item was changed last: a date, set by the keychain. Apple: `kSecAttrModificationDate`.
nonisolated(unsafe) public let kSecAttrModificationDate: CFString = "mdat"
/// Service name of a generic password: a string, part of the primary key. Apple: `kSecAttrService`.
nonisolated(unsafe) public let kSecAttrService: CFString = "svce"
/// Whether an item is marked for synchronisation: a Boolean, in searches also `kSecAttrSynchronizableAny`. A query
/// without it finds unmarked items only. Nothing is synchronised here. Apple: `kSecAttrSynchronizable`.
nonisolated(unsafe) public let kSecAttrSynchronizable: CFString = "sync"
/// Value of `kSecAttrSynchronizable` in a query that matches marked and unmarked items.
/// Apple: `kSecAttrSynchronizableAny`.
nonisolated(unsafe) public let kSecAttrSynchronizableAny: CFString = "syna"
/// Type code of a password: a number. Apple: `kSecAttrType`.
nonisolated(unsafe) public let kSecAttrType: CFString = "type"
/// Class of an item: one of the `kSecClass...` values. Required in every query without a reference. Apple: `kSecClass`.
nonisolated(unsafe) public let kSecClass: CFString = "class"
/// Value of `kSecClass` for generic passwords. Apple: `kSecClassGenericPassword`.
nonisolated(unsafe) public let kSecClassGenericPassword: CFString = "genp"
/// Maximum number of results: a number of at least 1, `kSecMatchLimitOne` (the default) or `kSecMatchLimitAll`.
/// Apple: `kSecMatchLimit`.
nonisolated(unsafe) public let kSecMatchLimit: CFString = "m_Limit"
/// Value of `kSecMatchLimit`: all matching items, returned as an array. Apple: `kSecMatchLimitAll`.
nonisolated(unsafe) public let kSecMatchLimitAll: CFString = "m_LimitAll"
/// Value of `kSecMatchLimit`: the first matching item, returned without an array. Apple: `kSecMatchLimitOne`.
nonisolated(unsafe) public let kSecMatchLimitOne: CFString = "m_LimitOne"
/// Whether the result contains the item's attributes: a Boolean, false by default. Apple: `kSecReturnAttributes`.
nonisolated(unsafe) public let kSecReturnAttributes: CFString = "r_Attributes"
/// Whether the result contains the item's secret data: a Boolean, false by default. Apple: `kSecReturnData`.
nonisolated(unsafe) public let kSecReturnData: CFString = "r_Data"
/// Whether the result contains a persistent reference: a Boolean, false by default. Apple: `kSecReturnPersistentRef`.
nonisolated(unsafe) public let kSecReturnPersistentRef: CFString = "r_PersistentRef"
/// Whether the result contains a `SecKey`, `SecCertificate` or `SecIdentity`: a Boolean, false by default. Passwords
/// have no such object. Apple: `kSecReturnRef`.
nonisolated(unsafe) public let kSecReturnRef: CFString = "r_Ref"
/// The `LAContext` that authenticates the user; without it, each call authenticates anew.
/// Apple: `kSecUseAuthenticationContext`.
nonisolated(unsafe) public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// Whether a call may show a prompt: one of the `kSecUseAuthenticationUI...` values. Apple: `kSecUseAuthenticationUI`.
nonisolated(unsafe) public let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// Value of `kSecUseAuthenticationUI`: a prompt may be shown; the default. Apple: `kSecUseAuthenticationUIAllow`.
@available(*, deprecated, message: "Use kSecUseAuthenticationContext")
nonisolated(unsafe) public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// Value of `kSecUseAuthenticationUI`: a call that needs a prompt returns `errSecInteractionNotAllowed`.
/// Apple: `kSecUseAuthenticationUIFail`.
@available(*, deprecated, message: "Use an LAContext with interactionNotAllowed as kSecUseAuthenticationContext")
nonisolated(unsafe) public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// Value of `kSecUseAuthenticationUI`: a search omits items that need a prompt. Other calls return `errSecParam`.
/// Apple: `kSecUseAuthenticationUISkip`.
nonisolated(unsafe) public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// Selects the data protection keychain: a Boolean. Accepted without effect, since there is only one keychain.
/// Apple: `kSecUseDataProtectionKeychain`.
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg"
/// List of items to use. A query with it returns `errSecParam`, as on iOS. Apple: `kSecUseItemList`.
@available(*, deprecated, message: "Use kSecMatchItemList")
nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList"
/// Whether a prompt is forbidden: a Boolean; true has the effect of `kSecUseAuthenticationUIFail`.
/// Apple: `kSecUseNoAuthenticationUI`.
@available(*, deprecated, message: "Use an LAContext with interactionNotAllowed as kSecUseAuthenticationContext")
nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// Reason that the prompt shows: a string. Apple: `kSecUseOperationPrompt`.
@available(*, deprecated, message: "Use an LAContext with localizedReason as kSecUseAuthenticationContext")
nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// Secret data of an item: `Data` of at most 1 MiB. For a key PKCS#1 or X9.63, for a certificate DER.
/// Apple: `kSecValueData`.
nonisolated(unsafe) public let kSecValueData: CFString = "v_Data"
/// Persistent reference of an item: `Data` of 34 bytes (35 for an identity) that a search returned. Cannot be combined
/// with attributes. Apple: `kSecValuePersistentRef`.
nonisolated(unsafe) public let kSecValuePersistentRef: CFString = "v_PersistentRef"
/// Reference object of an item: a `SecKey`, `SecCertificate` or `SecIdentity`. Passwords have none.
/// Apple: `kSecValueRef`.
nonisolated(unsafe) public let kSecValueRef: CFString = "v_Ref"
/// Readable while the keychain is unlocked, and only while a passcode is set; removing the passcode deletes such items.
/// Never leaves the device. The passcode is needed once after every start of the daemon.
/// Apple: `kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly`.
nonisolated(unsafe) public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
/// Readable while the keychain is unlocked; the default of all items except certificates.
/// Apple: `kSecAttrAccessibleWhenUnlocked`.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// Readable while the keychain is unlocked; never leaves the device.
/// Apple: `kSecAttrAccessibleWhenUnlockedThisDeviceOnly`.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// Readable after the first unlock since the machine started. Apple: `kSecAttrAccessibleAfterFirstUnlock`.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// Readable after the first unlock since the machine started; never leaves the device.
/// Apple: `kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// Always readable, also while the keychain is locked; the default of certificates. Apple: `kSecAttrAccessibleAlways`.
@available(*, deprecated, message: "Use kSecAttrAccessibleAfterFirstUnlock")
nonisolated(unsafe) public let kSecAttrAccessibleAlways: CFString = "dk"
/// Always readable, also while the keychain is locked; never leaves the device.
/// Apple: `kSecAttrAccessibleAlwaysThisDeviceOnly`.
@available(*, deprecated, message: "Use kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly")
nonisolated(unsafe) public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
