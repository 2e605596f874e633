// SPDX-License-Identifier: Apache-2.0

// Names and values of Apple's result codes, compared with Tests/Vectors/security.tsv by `SecurityConstantTests`.
// Those of code signing; Latchkey returns none of these.

/// Code signing: the remote signer failed.
public let errSecCSRemoteSignerFailed: OSStatus = -66990
/// Code signing: the CMS construction failed.
public let errSecCSCMSConstructionFailed: OSStatus = -66991
/// Code signing: revoked notarization.
public let errSecCSRevokedNotarization: OSStatus = -66992
/// Code signing: the runtime version is not valid.
public let errSecCSInvalidRuntimeVersion: OSStatus = -66993
/// Code signing: the entitlements are not valid.
public let errSecCSInvalidEntitlements: OSStatus = -66994
/// Code signing: the signature is untrusted.
public let errSecCSSignatureUntrusted: OSStatus = -66996
/// Code signing: the team identifier is bad.
public let errSecCSBadTeamIdentifier: OSStatus = -66997
/// Code signing: the team identifier is not valid.
public let errSecCSInvalidTeamIdentifier: OSStatus = -66998
/// Code signing: the associated file data is not valid.
public let errSecCSInvalidAssociatedFileData: OSStatus = -66999
/// Code signing: the digest algorithm is not supported.
public let errSecCSUnsupportedDigestAlgorithm: OSStatus = -67000
/// Code signing: the disk image format is bad.
public let errSecCSBadDiskImageFormat: OSStatus = -67001
/// Code signing: not app like.
public let errSecCSNotAppLike: OSStatus = -67002
/// Code signing: the symlink is not valid.
public let errSecCSInvalidSymlink: OSStatus = -67003
/// Code signing: too big.
public let errSecCSTooBig: OSStatus = -67004
/// Code signing: the platform is not valid.
public let errSecCSInvalidPlatform: OSStatus = -67005
/// Code signing: cancelled.
public let errSecCSCancelled: OSStatus = -67006
/// Code signing: weak resource envelope.
public let errSecCSWeakResourceEnvelope: OSStatus = -67007
/// Code signing: unsealed framework root.
public let errSecCSUnsealedFrameworkRoot: OSStatus = -67008
/// Code signing: the framework version is bad.
public let errSecCSBadFrameworkVersion: OSStatus = -67009
/// Code signing: the main executable is bad.
public let errSecCSBadMainExecutable: OSStatus = -67010
/// Code signing: ambiguous bundle format.
public let errSecCSAmbiguousBundleFormat: OSStatus = -67011
/// Code signing: DS store symlink.
public let errSecCSDSStoreSymlink: OSStatus = -67012
/// Code signing: weak resource rules.
public let errSecCSWeakResourceRules: OSStatus = -67013
/// Code signing: unsealed app root.
public let errSecCSUnsealedAppRoot: OSStatus = -67014
/// Code signing: regular file.
public let errSecCSRegularFile: OSStatus = -67015
/// Code signing: the resource is not supported.
public let errSecCSResourceNotSupported: OSStatus = -67016
/// Code signing: the LV arch is bad.
public let errSecCSBadLVArch: OSStatus = -67017
/// Code signing: vetoed.
public let errSecCSVetoed: OSStatus = -67018
/// Code signing: the helper failed.
public let errSecCSHelperFailed: OSStatus = -67019
/// Code signing: the callback value is bad.
public let errSecCSBadCallbackValue: OSStatus = -67020
/// Code signing: the nested code is bad.
public let errSecCSBadNestedCode: OSStatus = -67021
/// Code signing: unsigned nested code.
public let errSecCSUnsignedNestedCode: OSStatus = -67022
/// Code signing: the resource directory failed.
public let errSecCSResourceDirectoryFailed: OSStatus = -67023
/// Code signing: database corrupt.
public let errSecCSDbCorrupt: OSStatus = -67024
/// Code signing: outdated.
public let errSecCSOutdated: OSStatus = -67025
/// Code signing: file hard quarantined.
public let errSecCSFileHardQuarantined: OSStatus = -67026
/// Code signing: there are no matches.
public let errSecCSNoMatches: OSStatus = -67027
/// Code signing: the bundle format is bad.
public let errSecCSBadBundleFormat: OSStatus = -67028
/// Code signing: there is no main executable.
public let errSecCSNoMainExecutable: OSStatus = -67029
/// Code signing: the information plist failed.
public let errSecCSInfoPlistFailed: OSStatus = -67030
/// Code signing: host protocol invalid attribute.
public let errSecCSHostProtocolInvalidAttribute: OSStatus = -67031
/// Code signing: DB access.
public let errSecCSDBAccess: OSStatus = -67032
/// Code signing: signature DB access.
public let errSecCSSigDBAccess: OSStatus = -67032
/// Code signing: the DB is denied.
public let errSecCSDBDenied: OSStatus = -67033
/// Code signing: the signature DB is denied.
public let errSecCSSigDBDenied: OSStatus = -67033
/// Code signing: static code changed.
public let errSecCSStaticCodeChanged: OSStatus = -67034
/// Code signing: host protocol invalid hash.
public let errSecCSHostProtocolInvalidHash: OSStatus = -67035
/// Code signing: CMS too large.
public let errSecCSCMSTooLarge: OSStatus = -67036
/// Code signing: the  is not supported.
public let errSecCSNotSupported: OSStatus = -67037
/// Code signing: host protocol unrelated.
public let errSecCSHostProtocolUnrelated: OSStatus = -67039
/// Code signing: host protocol state error.
public let errSecCSHostProtocolStateError: OSStatus = -67040
/// Code signing: host protocol not proxy.
public let errSecCSHostProtocolNotProxy: OSStatus = -67041
/// Code signing: host protocol dedication error.
public let errSecCSHostProtocolDedicationError: OSStatus = -67042
/// Code signing: host protocol contradiction.
public let errSecCSHostProtocolContradiction: OSStatus = -67043
/// Code signing: host protocol relative path.
public let errSecCSHostProtocolRelativePath: OSStatus = -67044
/// Code signing: the signature is invalid.
public let errSecCSSignatureInvalid: OSStatus = -67045
/// Code signing: not a host.
public let errSecCSNotAHost: OSStatus = -67046
/// Code signing: host reject.
public let errSecCSHostReject: OSStatus = -67047
/// Code signing: internal error.
public let errSecCSInternalError: OSStatus = -67048
/// Code signing: the object format is bad.
public let errSecCSBadObjectFormat: OSStatus = -67049
/// Code signing: the request failed.
public let errSecCSReqFailed: OSStatus = -67050
/// Code signing: the request is unsupported.
public let errSecCSReqUnsupported: OSStatus = -67051
/// Code signing: the request is invalid.
public let errSecCSReqInvalid: OSStatus = -67052
/// Code signing: the resource rules is invalid.
public let errSecCSResourceRulesInvalid: OSStatus = -67053
/// Code signing: the resource is bad.
public let errSecCSBadResource: OSStatus = -67054
/// Code signing: the resources is invalid.
public let errSecCSResourcesInvalid: OSStatus = -67055
/// Code signing: the resources was not found.
public let errSecCSResourcesNotFound: OSStatus = -67056
/// Code signing: resources not sealed.
public let errSecCSResourcesNotSealed: OSStatus = -67057
/// Code signing: the dictionary format is bad.
public let errSecCSBadDictionaryFormat: OSStatus = -67058
/// Code signing: the signature is unsupported.
public let errSecCSSignatureUnsupported: OSStatus = -67059
/// Code signing: signature not verifiable.
public let errSecCSSignatureNotVerifiable: OSStatus = -67060
/// Code signing: the signature failed.
public let errSecCSSignatureFailed: OSStatus = -67061
/// Code signing: unsigned.
public let errSecCSUnsigned: OSStatus = -67062
/// Code signing: the guest is invalid.
public let errSecCSGuestInvalid: OSStatus = -67063
/// Code signing: multiple guests.
public let errSecCSMultipleGuests: OSStatus = -67064
/// Code signing: there is no such code.
public let errSecCSNoSuchCode: OSStatus = -67065
/// Code signing: the attribute values are not valid.
public let errSecCSInvalidAttributeValues: OSStatus = -67066
/// Code signing: the guest attributes are not supported.
public let errSecCSUnsupportedGuestAttributes: OSStatus = -67067
/// Code signing: the static code was not found.
public let errSecCSStaticCodeNotFound: OSStatus = -67068
/// Code signing: object required.
public let errSecCSObjectRequired: OSStatus = -67069
/// Code signing: the flags are not valid.
public let errSecCSInvalidFlags: OSStatus = -67070
/// Code signing: the object reference is not valid.
public let errSecCSInvalidObjectRef: OSStatus = -67071
/// Code signing: unimplemented.
public let errSecCSUnimplemented: OSStatus = -67072
