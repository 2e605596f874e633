// SPDX-License-Identifier: Apache-2.0

// Names and values of Apple's result codes, compared with Tests/Vectors/security.tsv by `SecurityConstantTests`.

/// Success.
public let errSecSuccess: OSStatus = 0
/// The function, algorithm or option is not supported.
public let errSecUnimplemented: OSStatus = -4
/// No disk space.
public let errSecDiskFull: OSStatus = -34
/// Bad argument: malformed query, unknown key, wrong value type, conflicting options.
public let errSecParam: OSStatus = -50
/// Out of memory.
public let errSecAllocate: OSStatus = -108
/// The user cancelled the authentication or operation.
public let errSecUserCanceled: OSStatus = -128
/// Bad request or wrong state.
public let errSecBadReq: OSStatus = -909
/// Internal component failure.
public let errSecInternalComponent: OSStatus = -2070
/// No keychain, or no key material for the item's protection class (e.g. passcode not set for the passcode-only class).
public let errSecNotAvailable: OSStatus = -25291
/// Read-only.
public let errSecReadOnly: OSStatus = -25292
/// Authentication did not succeed (wrong credential, lockout, or a non-cancel LocalAuthentication failure).
public let errSecAuthFailed: OSStatus = -25293
/// An item with the same primary key already exists.
public let errSecDuplicateItem: OSStatus = -25299
/// Nothing matched the query.
public let errSecItemNotFound: OSStatus = -25300
/// Buffer too small.
public let errSecBufferTooSmall: OSStatus = -25301
/// Data too large.
public let errSecDataTooLarge: OSStatus = -25302
/// Attribute unknown for this item class.
public let errSecNoSuchAttr: OSStatus = -25303
/// Unknown item class.
public let errSecNoSuchClass: OSStatus = -25306
/// User interaction would be needed but is not permitted, or the item's data is locked (device locked).
public let errSecInteractionNotAllowed: OSStatus = -25308
/// Attribute cannot be changed.
public let errSecReadOnlyAttr: OSStatus = -25309
/// Data could not be decoded or the stored item is unusable.
public let errSecDecode: OSStatus = -26275
/// The process lacks a needed entitlement (e.g. an access group it may not use).
public let errSecMissingEntitlement: OSStatus = -34018
/// I/O failure.
public let errSecIO: OSStatus = -36
/// File already open for writing.
public let errSecOpWr: OSStatus = -49
/// Not a valid keychain.
public let errSecInvalidKeychain: OSStatus = -25295
/// Version mismatch.
public let errSecWrongSecVersion: OSStatus = -25310
