// SPDX-License-Identifier: Apache-2.0

// Names and values of Apple's result codes, compared with Tests/Vectors/security.tsv by `SecurityConstantTests`.
// These are the codes of code signing; Latchkey returns none of them.

/// Code signing: the remote signer reported a failure. Apple: `errSecCSRemoteSignerFailed`.
public let errSecCSRemoteSignerFailed: OSStatus = -66990
/// Code signing: the CMS signature could not be created. Apple: `errSecCSCMSConstructionFailed`.
public let errSecCSCMSConstructionFailed: OSStatus = -66991
/// Code signing: the notarisation of the code was revoked. Apple: `errSecCSRevokedNotarization`.
public let errSecCSRevokedNotarization: OSStatus = -66992
/// Code signing: the runtime version is not valid. Apple: `errSecCSInvalidRuntimeVersion`.
public let errSecCSInvalidRuntimeVersion: OSStatus = -66993
/// Code signing: the entitlements are not valid. Apple: `errSecCSInvalidEntitlements`.
public let errSecCSInvalidEntitlements: OSStatus = -66994
/// Code signing: the signature is not trusted. Apple: `errSecCSSignatureUntrusted`.
public let errSecCSSignatureUntrusted: OSStatus = -66996
/// Code signing: the team identifier is malformed. Apple: `errSecCSBadTeamIdentifier`.
public let errSecCSBadTeamIdentifier: OSStatus = -66997
/// Code signing: the team identifier is not valid. Apple: `errSecCSInvalidTeamIdentifier`.
public let errSecCSInvalidTeamIdentifier: OSStatus = -66998
/// Code signing: the associated file data is not valid. Apple: `errSecCSInvalidAssociatedFileData`.
public let errSecCSInvalidAssociatedFileData: OSStatus = -66999
/// Code signing: the digest algorithm is not supported. Apple: `errSecCSUnsupportedDigestAlgorithm`.
public let errSecCSUnsupportedDigestAlgorithm: OSStatus = -67000
/// Code signing: the format of the disk image is not valid. Apple: `errSecCSBadDiskImageFormat`.
public let errSecCSBadDiskImageFormat: OSStatus = -67001
/// Code signing: the code does not have the form of an app. Apple: `errSecCSNotAppLike`.
public let errSecCSNotAppLike: OSStatus = -67002
/// Code signing: the code has a symbolic link that is not valid. Apple: `errSecCSInvalidSymlink`.
public let errSecCSInvalidSymlink: OSStatus = -67003
/// Code signing: the code is too large. Apple: `errSecCSTooBig`.
public let errSecCSTooBig: OSStatus = -67004
/// Code signing: the platform is not valid. Apple: `errSecCSInvalidPlatform`.
public let errSecCSInvalidPlatform: OSStatus = -67005
/// Code signing: the operation was cancelled. Apple: `errSecCSCancelled`.
public let errSecCSCancelled: OSStatus = -67006
/// Code signing: the resource envelope is of an obsolete form. Apple: `errSecCSWeakResourceEnvelope`.
public let errSecCSWeakResourceEnvelope: OSStatus = -67007
/// Code signing: the root folder of the framework has unsealed contents. Apple: `errSecCSUnsealedFrameworkRoot`.
public let errSecCSUnsealedFrameworkRoot: OSStatus = -67008
/// Code signing: the framework has a malformed version folder. Apple: `errSecCSBadFrameworkVersion`.
public let errSecCSBadFrameworkVersion: OSStatus = -67009
/// Code signing: the main executable is malformed. Apple: `errSecCSBadMainExecutable`.
public let errSecCSBadMainExecutable: OSStatus = -67010
/// Code signing: the bundle could be of several formats. Apple: `errSecCSAmbiguousBundleFormat`.
public let errSecCSAmbiguousBundleFormat: OSStatus = -67011
/// Code signing: a `.DS_Store` file is a symbolic link. Apple: `errSecCSDSStoreSymlink`.
public let errSecCSDSStoreSymlink: OSStatus = -67012
/// Code signing: the resource rules are of an obsolete form. Apple: `errSecCSWeakResourceRules`.
public let errSecCSWeakResourceRules: OSStatus = -67013
/// Code signing: the root folder of the app has unsealed contents. Apple: `errSecCSUnsealedAppRoot`.
public let errSecCSUnsealedAppRoot: OSStatus = -67014
/// Code signing: the main executable or the `Info.plist` is not a regular file. Apple: `errSecCSRegularFile`.
public let errSecCSRegularFile: OSStatus = -67015
/// Code signing: the resource is not supported. Apple: `errSecCSResourceNotSupported`.
public let errSecCSResourceNotSupported: OSStatus = -67016
/// Code signing: the architecture is not valid for library validation. Apple: `errSecCSBadLVArch`.
public let errSecCSBadLVArch: OSStatus = -67017
/// Code signing: a participant in the operation vetoed it. Apple: `errSecCSVetoed`.
public let errSecCSVetoed: OSStatus = -67018
/// Code signing: a helper program failed. Apple: `errSecCSHelperFailed`.
public let errSecCSHelperFailed: OSStatus = -67019
/// Code signing: the callback returned a value that is not valid. Apple: `errSecCSBadCallbackValue`.
public let errSecCSBadCallbackValue: OSStatus = -67020
/// Code signing: the nested code is modified or not valid. Apple: `errSecCSBadNestedCode`.
public let errSecCSBadNestedCode: OSStatus = -67021
/// Code signing: the nested code is not signed. Apple: `errSecCSUnsignedNestedCode`.
public let errSecCSUnsignedNestedCode: OSStatus = -67022
/// Code signing: the resource directory could not be read. Apple: `errSecCSResourceDirectoryFailed`.
public let errSecCSResourceDirectoryFailed: OSStatus = -67023
/// Code signing: the signature database is damaged. Apple: `errSecCSDbCorrupt`.
public let errSecCSDbCorrupt: OSStatus = -67024
/// Code signing: the code is out of date. Apple: `errSecCSOutdated`.
public let errSecCSOutdated: OSStatus = -67025
/// Code signing: the file is quarantined and may not be opened. Apple: `errSecCSFileHardQuarantined`.
public let errSecCSFileHardQuarantined: OSStatus = -67026
/// Code signing: no rule or record matches. Apple: `errSecCSNoMatches`.
public let errSecCSNoMatches: OSStatus = -67027
/// Code signing: the format of the bundle is not valid. Apple: `errSecCSBadBundleFormat`.
public let errSecCSBadBundleFormat: OSStatus = -67028
/// Code signing: there is no main executable. Apple: `errSecCSNoMainExecutable`.
public let errSecCSNoMainExecutable: OSStatus = -67029
/// Code signing: the `Info.plist` could not be read or verified. Apple: `errSecCSInfoPlistFailed`.
public let errSecCSInfoPlistFailed: OSStatus = -67030
/// Code signing: the host passed a guest attribute that is not valid. Apple: `errSecCSHostProtocolInvalidAttribute`.
public let errSecCSHostProtocolInvalidAttribute: OSStatus = -67031
/// Code signing: the signature database cannot be opened. Apple: `errSecCSDBAccess`.
public let errSecCSDBAccess: OSStatus = -67032
/// Code signing: the signature database cannot be opened; former name of `errSecCSDBAccess`.
/// Apple: `errSecCSSigDBAccess`.
public let errSecCSSigDBAccess: OSStatus = -67032
/// Code signing: access to the signature database is denied. Apple: `errSecCSDBDenied`.
public let errSecCSDBDenied: OSStatus = -67033
/// Code signing: access to the signature database is denied; former name of `errSecCSDBDenied`.
/// Apple: `errSecCSSigDBDenied`.
public let errSecCSSigDBDenied: OSStatus = -67033
/// Code signing: the code on disk differs from the running code. Apple: `errSecCSStaticCodeChanged`.
public let errSecCSStaticCodeChanged: OSStatus = -67034
/// Code signing: the host passed a code hash that is not valid. Apple: `errSecCSHostProtocolInvalidHash`.
public let errSecCSHostProtocolInvalidHash: OSStatus = -67035
/// Code signing: the CMS signature is too large. Apple: `errSecCSCMSTooLarge`.
public let errSecCSCMSTooLarge: OSStatus = -67036
/// Code signing: the operation is not supported for this code. Apple: `errSecCSNotSupported`.
public let errSecCSNotSupported: OSStatus = -67037
/// Code signing: the host and the guest are not related. Apple: `errSecCSHostProtocolUnrelated`.
public let errSecCSHostProtocolUnrelated: OSStatus = -67039
/// Code signing: the host passed a guest state that is not valid. Apple: `errSecCSHostProtocolStateError`.
public let errSecCSHostProtocolStateError: OSStatus = -67040
/// Code signing: the host is not a proxy of the guest. Apple: `errSecCSHostProtocolNotProxy`.
public let errSecCSHostProtocolNotProxy: OSStatus = -67041
/// Code signing: the host violated the rules for dedicated guests. Apple: `errSecCSHostProtocolDedicationError`.
public let errSecCSHostProtocolDedicationError: OSStatus = -67042
/// Code signing: the host contradicted an earlier statement. Apple: `errSecCSHostProtocolContradiction`.
public let errSecCSHostProtocolContradiction: OSStatus = -67043
/// Code signing: the host passed a relative path instead of an absolute one. Apple: `errSecCSHostProtocolRelativePath`.
public let errSecCSHostProtocolRelativePath: OSStatus = -67044
/// Code signing: the signature is not valid. Apple: `errSecCSSignatureInvalid`.
public let errSecCSSignatureInvalid: OSStatus = -67045
/// Code signing: the code is not a host of other code. Apple: `errSecCSNotAHost`.
public let errSecCSNotAHost: OSStatus = -67046
/// Code signing: the host rejected the guest as not valid. Apple: `errSecCSHostReject`.
public let errSecCSHostReject: OSStatus = -67047
/// Code signing: an internal error occurred in the subsystem. Apple: `errSecCSInternalError`.
public let errSecCSInternalError: OSStatus = -67048
/// Code signing: the format of the code object is not valid. Apple: `errSecCSBadObjectFormat`.
public let errSecCSBadObjectFormat: OSStatus = -67049
/// Code signing: the code does not satisfy the requirement. Apple: `errSecCSReqFailed`.
public let errSecCSReqFailed: OSStatus = -67050
/// Code signing: the requirement has an unsupported type or version. Apple: `errSecCSReqUnsupported`.
public let errSecCSReqUnsupported: OSStatus = -67051
/// Code signing: the requirement is not valid. Apple: `errSecCSReqInvalid`.
public let errSecCSReqInvalid: OSStatus = -67052
/// Code signing: the resource rules are not valid. Apple: `errSecCSResourceRulesInvalid`.
public let errSecCSResourceRulesInvalid: OSStatus = -67053
/// Code signing: a sealed resource is missing or changed. Apple: `errSecCSBadResource`.
public let errSecCSBadResource: OSStatus = -67054
/// Code signing: the resource envelope is not valid. Apple: `errSecCSResourcesInvalid`.
public let errSecCSResourcesInvalid: OSStatus = -67055
/// Code signing: the code has no resource envelope. Apple: `errSecCSResourcesNotFound`.
public let errSecCSResourcesNotFound: OSStatus = -67056
/// Code signing: the resources are not sealed by the signature. Apple: `errSecCSResourcesNotSealed`.
public let errSecCSResourcesNotSealed: OSStatus = -67057
/// Code signing: a dictionary has a format that is not valid. Apple: `errSecCSBadDictionaryFormat`.
public let errSecCSBadDictionaryFormat: OSStatus = -67058
/// Code signing: the signature has an unsupported type or version. Apple: `errSecCSSignatureUnsupported`.
public let errSecCSSignatureUnsupported: OSStatus = -67059
/// Code signing: the signature cannot be verified. Apple: `errSecCSSignatureNotVerifiable`.
public let errSecCSSignatureNotVerifiable: OSStatus = -67060
/// Code signing: the signature does not match the code. Apple: `errSecCSSignatureFailed`.
public let errSecCSSignatureFailed: OSStatus = -67061
/// Code signing: the code is not signed. Apple: `errSecCSUnsigned`.
public let errSecCSUnsigned: OSStatus = -67062
/// Code signing: the guest code is not valid. Apple: `errSecCSGuestInvalid`.
public let errSecCSGuestInvalid: OSStatus = -67063
/// Code signing: several guests match the attributes. Apple: `errSecCSMultipleGuests`.
public let errSecCSMultipleGuests: OSStatus = -67064
/// Code signing: the host has no guest with these attributes. Apple: `errSecCSNoSuchCode`.
public let errSecCSNoSuchCode: OSStatus = -67065
/// Code signing: the attribute values are not valid. Apple: `errSecCSInvalidAttributeValues`.
public let errSecCSInvalidAttributeValues: OSStatus = -67066
/// Code signing: the host does not support these guest attributes. Apple: `errSecCSUnsupportedGuestAttributes`.
public let errSecCSUnsupportedGuestAttributes: OSStatus = -67067
/// Code signing: the code on disk was not found. Apple: `errSecCSStaticCodeNotFound`.
public let errSecCSStaticCodeNotFound: OSStatus = -67068
/// Code signing: the object reference is required and missing. Apple: `errSecCSObjectRequired`.
public let errSecCSObjectRequired: OSStatus = -67069
/// Code signing: the flags are not valid. Apple: `errSecCSInvalidFlags`.
public let errSecCSInvalidFlags: OSStatus = -67070
/// Code signing: the object reference is not valid. Apple: `errSecCSInvalidObjectRef`.
public let errSecCSInvalidObjectRef: OSStatus = -67071
/// Code signing: the function is not implemented. Apple: `errSecCSUnimplemented`.
public let errSecCSUnimplemented: OSStatus = -67072
