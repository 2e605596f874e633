// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Names and values of Apple's constants, compared with Tests/Vectors/security.tsv by `SecurityConstantTests`.

/// Rule of the item: a `SecAccessControl`. Apple: `kSecAttrAccessControl`.
nonisolated(unsafe) public let kSecAttrAccessControl: CFString = "accc"
/// Access group: a string; without it the caller's own. Apple: `kSecAttrAccessGroup`.
nonisolated(unsafe) public let kSecAttrAccessGroup: CFString = "agrp"
/// Access group of items on smart cards, which no app here belongs to. Apple: `kSecAttrAccessGroupToken`.
nonisolated(unsafe) public let kSecAttrAccessGroupToken: CFString = "com.apple.token"
/// When the item can be read: one of the `kSecAttrAccessible...` values. Apple: `kSecAttrAccessible`.
nonisolated(unsafe) public let kSecAttrAccessible: CFString = "pdmn"
/// Account name: a string. Apple: `kSecAttrAccount`.
nonisolated(unsafe) public let kSecAttrAccount: CFString = "acct"
/// Comment: a string. Apple: `kSecAttrComment`.
nonisolated(unsafe) public let kSecAttrComment: CFString = "icmt"
/// When the item was added: a date; set by the keychain. Apple: `kSecAttrCreationDate`.
nonisolated(unsafe) public let kSecAttrCreationDate: CFString = "cdat"
/// Creator: a number. Apple: `kSecAttrCreator`.
nonisolated(unsafe) public let kSecAttrCreator: CFString = "crtr"
/// Kind of item in words: a string. Apple: `kSecAttrDescription`.
nonisolated(unsafe) public let kSecAttrDescription: CFString = "desc"
/// Data of the app, no part of the primary key. Apple: `kSecAttrGeneric`.
nonisolated(unsafe) public let kSecAttrGeneric: CFString = "gena"
/// Whether the item should not be shown: a Boolean. Apple: `kSecAttrIsInvisible`.
nonisolated(unsafe) public let kSecAttrIsInvisible: CFString = "invi"
/// Whether there is no valid password: a Boolean. Apple: `kSecAttrIsNegative`.
nonisolated(unsafe) public let kSecAttrIsNegative: CFString = "nega"
/// Name that people see: a string. Apple: `kSecAttrLabel`.
nonisolated(unsafe) public let kSecAttrLabel: CFString = "labl"
/// When the item was changed last: a date; set by the keychain. Apple: `kSecAttrModificationDate`.
nonisolated(unsafe) public let kSecAttrModificationDate: CFString = "mdat"
/// Service name: a string. Apple: `kSecAttrService`.
nonisolated(unsafe) public let kSecAttrService: CFString = "svce"
/// Whether the item belongs to the synchronised ones: a Boolean or `kSecAttrSynchronizableAny`. Apple:
/// `kSecAttrSynchronizable`.
nonisolated(unsafe) public let kSecAttrSynchronizable: CFString = "sync"
/// Value of `kSecAttrSynchronizable` that matches both kinds. Apple: `kSecAttrSynchronizableAny`.
nonisolated(unsafe) public let kSecAttrSynchronizableAny: CFString = "syna"
/// Type: a number. Apple: `kSecAttrType`.
nonisolated(unsafe) public let kSecAttrType: CFString = "type"
/// Class of the item; every query without a reference needs it. Apple: `kSecClass`.
nonisolated(unsafe) public let kSecClass: CFString = "class"
/// Class of generic passwords. Apple: `kSecClassGenericPassword`.
nonisolated(unsafe) public let kSecClassGenericPassword: CFString = "genp"
/// How many items are given: a number, `kSecMatchLimitOne` or `kSecMatchLimitAll`. Apple: `kSecMatchLimit`.
nonisolated(unsafe) public let kSecMatchLimit: CFString = "m_Limit"
/// Every item that matches, as an array. Apple: `kSecMatchLimitAll`.
nonisolated(unsafe) public let kSecMatchLimitAll: CFString = "m_LimitAll"
/// The first item that matches, by itself. Apple: `kSecMatchLimitOne`.
nonisolated(unsafe) public let kSecMatchLimitOne: CFString = "m_LimitOne"
/// Whether attributes are given: a Boolean. Apple: `kSecReturnAttributes`.
nonisolated(unsafe) public let kSecReturnAttributes: CFString = "r_Attributes"
/// Whether the secret is given: a Boolean. Apple: `kSecReturnData`.
nonisolated(unsafe) public let kSecReturnData: CFString = "r_Data"
/// Whether a persistent reference is given: a Boolean. Apple: `kSecReturnPersistentRef`.
nonisolated(unsafe) public let kSecReturnPersistentRef: CFString = "r_PersistentRef"
/// Whether a reference is given: a Boolean. Passwords have none. Apple: `kSecReturnRef`.
nonisolated(unsafe) public let kSecReturnRef: CFString = "r_Ref"
/// The `LAContext` to authenticate with. Apple: `kSecUseAuthenticationContext`.
nonisolated(unsafe) public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// Whether a prompt may be shown. Apple: `kSecUseAuthenticationUI`.
nonisolated(unsafe) public let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// A prompt may be shown: the default. Apple: `kSecUseAuthenticationUIAllow`.
@available(*, deprecated, message: "Use kSecUseAuthenticationContext")
nonisolated(unsafe) public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// No prompt: `errSecInteractionNotAllowed` instead. Apple: `kSecUseAuthenticationUIFail`.
@available(*, deprecated, message: "Use an LAContext with interactionNotAllowed as kSecUseAuthenticationContext")
nonisolated(unsafe) public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// No prompt: protected items are left out. Apple: `kSecUseAuthenticationUISkip`.
nonisolated(unsafe) public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// Accepted and without effect: there is only this keychain. Apple: `kSecUseDataProtectionKeychain`.
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg"
/// Refused with `errSecParam`, as on iOS. Apple: `kSecUseItemList`.
@available(*, deprecated, message: "Use kSecMatchItemList")
nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList"
/// true means the same as `kSecUseAuthenticationUIFail`. Apple: `kSecUseNoAuthenticationUI`.
@available(*, deprecated, message: "Use an LAContext with interactionNotAllowed as kSecUseAuthenticationContext")
nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// Reason that the prompt shows: a string. Apple: `kSecUseOperationPrompt`.
@available(*, deprecated, message: "Use an LAContext with localizedReason as kSecUseAuthenticationContext")
nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// The secret: data. Apple: `kSecValueData`.
nonisolated(unsafe) public let kSecValueData: CFString = "v_Data"
/// Persistent reference of one item: data of 34 bytes. Apple: `kSecValuePersistentRef`.
nonisolated(unsafe) public let kSecValuePersistentRef: CFString = "v_PersistentRef"
/// Reference of one item. Passwords have none. Apple: `kSecValueRef`.
nonisolated(unsafe) public let kSecValueRef: CFString = "v_Ref"
/// While unlocked, only with a passcode set; never leaves the device. Needs the passcode once after every start of
/// the daemon. Apple: `kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly`.
nonisolated(unsafe) public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
/// Readable: unlocked (default for everything except certificates). Apple: `kSecAttrAccessibleWhenUnlocked`.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// Readable: unlocked; never leaves the device. Apple: `kSecAttrAccessibleWhenUnlockedThisDeviceOnly`.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// Readable: after first unlock since boot. Apple: `kSecAttrAccessibleAfterFirstUnlock`.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// Readable: after first unlock since boot; never leaves the device. Apple:
/// `kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// Readable: always; the default of certificates. Apple: `kSecAttrAccessibleAlways`.
@available(*, deprecated, message: "Use kSecAttrAccessibleAfterFirstUnlock")
nonisolated(unsafe) public let kSecAttrAccessibleAlways: CFString = "dk"
/// Readable: always; never leaves the device. Apple: `kSecAttrAccessibleAlwaysThisDeviceOnly`.
@available(*, deprecated, message: "Use kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly")
nonisolated(unsafe) public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
