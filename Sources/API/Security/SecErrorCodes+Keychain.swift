// SPDX-License-Identifier: Apache-2.0

// Names and values of Apple's result codes, compared with Tests/Vectors/security.tsv by `SecurityConstantTests`.
// Latchkey returns none of these codes.

/// Former or misspelt name of `errSecDiskFull`, with the same value. Apple: `errSecDskFull`.
@available(*, deprecated, renamed: "errSecDiskFull")
public let errSecDskFull: OSStatus = -34
/// The file may not be written. Apple: `errSecWrPerm`.
public let errSecWrPerm: OSStatus = -61
/// Core Foundation reported an unknown failure. Apple: `errSecCoreFoundationUnknown`.
public let errSecCoreFoundationUnknown: OSStatus = -4960
/// The ticket of the download is not valid. Apple: `errSecureDownloadInvalidTicket`.
public let errSecureDownloadInvalidTicket: OSStatus = -20052
/// The download is not valid. Apple: `errSecureDownloadInvalidDownload`.
public let errSecureDownloadInvalidDownload: OSStatus = -20053
/// The access control list is not in the standard simple form. Apple: `errSecACLNotSimple`.
public let errSecACLNotSimple: OSStatus = -25240
/// The policy was not found. Apple: `errSecPolicyNotFound`.
public let errSecPolicyNotFound: OSStatus = -25241
/// The trust setting is not valid. Apple: `errSecInvalidTrustSetting`.
public let errSecInvalidTrustSetting: OSStatus = -25242
/// The item has no access control list. Apple: `errSecNoAccessForItem`.
public let errSecNoAccessForItem: OSStatus = -25243
/// The owner edit is not valid. Apple: `errSecInvalidOwnerEdit`.
public let errSecInvalidOwnerEdit: OSStatus = -25244
/// Trust evaluation results are not available. Apple: `errSecTrustNotAvailable`.
public let errSecTrustNotAvailable: OSStatus = -25245
/// The import or export format is not supported. Apple: `errSecUnsupportedFormat`.
public let errSecUnsupportedFormat: OSStatus = -25256
/// The format of the imported data is unknown. Apple: `errSecUnknownFormat`.
public let errSecUnknownFormat: OSStatus = -25257
/// The key must be wrapped to be exported. Apple: `errSecKeyIsSensitive`.
public let errSecKeyIsSensitive: OSStatus = -25258
/// The imported data has more than one private key. Apple: `errSecMultiplePrivKeys`.
public let errSecMultiplePrivKeys: OSStatus = -25259
/// The import or export needs a passphrase. Apple: `errSecPassphraseRequired`.
public let errSecPassphraseRequired: OSStatus = -25260
/// The password reference is not valid. Apple: `errSecInvalidPasswordRef`.
public let errSecInvalidPasswordRef: OSStatus = -25261
/// The trust settings are not valid. Apple: `errSecInvalidTrustSettings`.
public let errSecInvalidTrustSettings: OSStatus = -25262
/// There are no trust settings. Apple: `errSecNoTrustSettings`.
public let errSecNoTrustSettings: OSStatus = -25263
/// The MAC of the PKCS#12 file is wrong, usually because of a wrong passphrase. Apple: `errSecPkcs12VerifyFailure`.
public let errSecPkcs12VerifyFailure: OSStatus = -25264
/// The named keychain does not exist. Apple: `errSecNoSuchKeychain`.
public let errSecNoSuchKeychain: OSStatus = -25294
/// A keychain with this name exists already. Apple: `errSecDuplicateKeychain`.
public let errSecDuplicateKeychain: OSStatus = -25296
/// The callback is registered already. Apple: `errSecDuplicateCallback`.
public let errSecDuplicateCallback: OSStatus = -25297
/// The callback is not valid. Apple: `errSecInvalidCallback`.
public let errSecInvalidCallback: OSStatus = -25298
/// The item reference is not valid, or the item was deleted. Apple: `errSecInvalidItemRef`.
public let errSecInvalidItemRef: OSStatus = -25304
/// The search reference is not valid. Apple: `errSecInvalidSearchRef`.
public let errSecInvalidSearchRef: OSStatus = -25305
/// There is no default keychain. Apple: `errSecNoDefaultKeychain`.
public let errSecNoDefaultKeychain: OSStatus = -25307
/// The key size is not allowed. Apple: `errSecKeySizeNotAllowed`.
public let errSecKeySizeNotAllowed: OSStatus = -25311
/// There is no storage module available. Apple: `errSecNoStorageModule`.
public let errSecNoStorageModule: OSStatus = -25312
/// There is no certificate module available. Apple: `errSecNoCertificateModule`.
public let errSecNoCertificateModule: OSStatus = -25313
/// There is no policy module available. Apple: `errSecNoPolicyModule`.
public let errSecNoPolicyModule: OSStatus = -25314
/// The operation needs an answer from the user. Apple: `errSecInteractionRequired`.
public let errSecInteractionRequired: OSStatus = -25315
/// The data is not available. Apple: `errSecDataNotAvailable`.
public let errSecDataNotAvailable: OSStatus = -25316
/// The data cannot be modified. Apple: `errSecDataNotModifiable`.
public let errSecDataNotModifiable: OSStatus = -25317
/// The certificate chain could not be built. Apple: `errSecCreateChainFailed`.
public let errSecCreateChainFailed: OSStatus = -25318
/// The preferences domain is not valid. Apple: `errSecInvalidPrefsDomain`.
public let errSecInvalidPrefsDomain: OSStatus = -25319
/// The operation is not possible while the machine is in dark wake. Apple: `errSecInDarkWake`.
public let errSecInDarkWake: OSStatus = -25320
/// The certificate was not signed by the proposed issuer. Apple: `errSecNotSigner`.
public let errSecNotSigner: OSStatus = -26267
/// This client may not call this function. Apple: `errSecRestrictedAPI`.
public let errSecRestrictedAPI: OSStatus = -34020
