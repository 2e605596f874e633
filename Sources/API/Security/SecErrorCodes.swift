// SPDX-License-Identifier: Apache-2.0

// Names and values of Apple's result codes, compared with Tests/Vectors/security.tsv by `SecurityConstantTests`.

/// The call completed without an error. Apple: `errSecSuccess`.
public let errSecSuccess: OSStatus = 0
/// The function, algorithm or option is not supported, or a key cannot be exported. Apple: `errSecUnimplemented`.
public let errSecUnimplemented: OSStatus = -4
/// The keychain cannot be written because the disk is full. Apple: `errSecDiskFull`.
public let errSecDiskFull: OSStatus = -34
/// A parameter is not valid: the query is malformed, or has an unknown key, a value of the wrong type or conflicting
/// options. Apple: `errSecParam`.
public let errSecParam: OSStatus = -50
/// Memory or another limited resource ran out, for instance the queue of waiting prompts. Apple: `errSecAllocate`.
public let errSecAllocate: OSStatus = -108
/// The user cancelled the authentication or the operation. Apple: `errSecUserCanceled`.
public let errSecUserCanceled: OSStatus = -128
/// The daemon rejected the request as malformed. Apple: `errSecBadReq`.
public let errSecBadReq: OSStatus = -909
/// An internal component of the daemon or the client failed. Apple: `errSecInternalComponent`.
public let errSecInternalComponent: OSStatus = -2070
/// The keychain is not available: the daemon cannot be reached, or there is no Secure Enclave for the key.
/// Apple: `errSecNotAvailable`.
public let errSecNotAvailable: OSStatus = -25291
/// The keychain cannot be written because it is read-only. Apple: `errSecReadOnly`.
public let errSecReadOnly: OSStatus = -25292
/// Authentication failed, or the access control cannot be satisfied: wrong passcode, lockout, no passcode set, nothing
/// enrolled. Apple: `errSecAuthFailed`.
public let errSecAuthFailed: OSStatus = -25293
/// An item with the same primary key exists already. Apple: `errSecDuplicateItem`.
public let errSecDuplicateItem: OSStatus = -25299
/// No item matches the query. Apple: `errSecItemNotFound`.
public let errSecItemNotFound: OSStatus = -25300
/// The buffer is too small for the result. Apple: `errSecBufferTooSmall`.
public let errSecBufferTooSmall: OSStatus = -25301
/// A secret exceeds 1 MiB, or an attribute 64 KiB. Apple: `errSecDataTooLarge`.
public let errSecDataTooLarge: OSStatus = -25302
/// Items of this class do not have the attribute. Apple: `errSecNoSuchAttr`.
public let errSecNoSuchAttr: OSStatus = -25303
/// The value of `kSecClass` is unknown. Apple: `errSecNoSuchClass`.
public let errSecNoSuchClass: OSStatus = -25306
/// The keychain is locked, or a prompt is needed and not allowed or not possible. Apple: `errSecInteractionNotAllowed`.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// The attribute cannot be changed. Apple: `errSecReadOnlyAttr`.
public let errSecReadOnlyAttr: OSStatus = -25309
/// The data cannot be decoded, for instance a PKCS#12 file. Apple: `errSecDecode`.
public let errSecDecode: OSStatus = -26275
/// The app is not in the access group. Apple: `errSecMissingEntitlement`.
public let errSecMissingEntitlement: OSStatus = -34018
/// Reading or writing a file failed. Apple: `errSecIO`.
public let errSecIO: OSStatus = -36
/// The file is open for writing already. Apple: `errSecOpWr`.
public let errSecOpWr: OSStatus = -49
/// The keychain cannot be read: its store is damaged, or belongs to another user or tier.
/// Apple: `errSecInvalidKeychain`.
public let errSecInvalidKeychain: OSStatus = -25295
/// The daemon or the store has another version than this library. Apple: `errSecWrongSecVersion`.
public let errSecWrongSecVersion: OSStatus = -25310
