// SPDX-License-Identifier: Apache-2.0

// Names and values of Apple's result codes, compared with Tests/Vectors/security.tsv by `SecurityConstantTests`.
// Latchkey returns none of these.

/// Misspelt or old name of `errSecDiskFull`.
@available(*, deprecated, renamed: "errSecDiskFull")
public let errSecDskFull: OSStatus = -34
/// No write permission.
public let errSecWrPerm: OSStatus = -61
/// Unknown CoreFoundation failure.
public let errSecCoreFoundationUnknown: OSStatus = -4960
/// The ticket of the download is not valid.
public let errSecureDownloadInvalidTicket: OSStatus = -20052
/// The download is not valid.
public let errSecureDownloadInvalidDownload: OSStatus = -20053
/// ACL not simple.
public let errSecACLNotSimple: OSStatus = -25240
/// The policy was not found.
public let errSecPolicyNotFound: OSStatus = -25241
/// The trust setting is not valid.
public let errSecInvalidTrustSetting: OSStatus = -25242
/// There is no access to the item.
public let errSecNoAccessForItem: OSStatus = -25243
/// The owner edit is not valid.
public let errSecInvalidOwnerEdit: OSStatus = -25244
/// The trust is not available.
public let errSecTrustNotAvailable: OSStatus = -25245
/// Import/export format not supported.
public let errSecUnsupportedFormat: OSStatus = -25256
/// Import format not recognised.
public let errSecUnknownFormat: OSStatus = -25257
/// Key must be wrapped to be exported.
public let errSecKeyIsSensitive: OSStatus = -25258
/// More than one private key in the import.
public let errSecMultiplePrivKeys: OSStatus = -25259
/// Import/export needs a passphrase.
public let errSecPassphraseRequired: OSStatus = -25260
/// Bad password reference.
public let errSecInvalidPasswordRef: OSStatus = -25261
/// The trust settings are not valid.
public let errSecInvalidTrustSettings: OSStatus = -25262
/// There are no trust settings.
public let errSecNoTrustSettings: OSStatus = -25263
/// PKCS#12 MAC check failed (usually a wrong passphrase).
public let errSecPkcs12VerifyFailure: OSStatus = -25264
/// Keychain missing.
public let errSecNoSuchKeychain: OSStatus = -25294
/// Keychain of that name exists.
public let errSecDuplicateKeychain: OSStatus = -25296
/// The callback is there already.
public let errSecDuplicateCallback: OSStatus = -25297
/// The callback is not valid.
public let errSecInvalidCallback: OSStatus = -25298
/// Stale or wrong item reference.
public let errSecInvalidItemRef: OSStatus = -25304
/// Invalid search reference.
public let errSecInvalidSearchRef: OSStatus = -25305
/// No default keychain.
public let errSecNoDefaultKeychain: OSStatus = -25307
/// Key size not permitted.
public let errSecKeySizeNotAllowed: OSStatus = -25311
/// There is no storage module.
public let errSecNoStorageModule: OSStatus = -25312
/// There is no certificate module.
public let errSecNoCertificateModule: OSStatus = -25313
/// There is no policy module.
public let errSecNoPolicyModule: OSStatus = -25314
/// User interaction is needed.
public let errSecInteractionRequired: OSStatus = -25315
/// The data is not available.
public let errSecDataNotAvailable: OSStatus = -25316
/// The data cannot be modified.
public let errSecDataNotModifiable: OSStatus = -25317
/// Certificate chain could not be built.
public let errSecCreateChainFailed: OSStatus = -25318
/// Bad preferences domain.
public let errSecInvalidPrefsDomain: OSStatus = -25319
/// Not possible while the machine is in dark wake.
public let errSecInDarkWake: OSStatus = -25320
/// Certificate is not signed by the proposed parent.
public let errSecNotSigner: OSStatus = -26267
/// This client may not call this API.
public let errSecRestrictedAPI: OSStatus = -34020
