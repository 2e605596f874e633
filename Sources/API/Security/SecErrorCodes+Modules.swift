// SPDX-License-Identifier: Apache-2.0
// Long: a table of names and values.

// Names and values of Apple's result codes, compared with Tests/Vectors/security.tsv by `SecurityConstantTests`.
// Of these, Latchkey returns errSecVerifyFailed only.

/// The code signature has more than one executable segment. Apple: `errSecMultipleExecSegments`.
public let errSecMultipleExecSegments: OSStatus = -66995
/// A required service is not available. Apple: `errSecServiceNotAvailable`.
public let errSecServiceNotAvailable: OSStatus = -67585
/// The client identification is not sufficient. Apple: `errSecInsufficientClientID`.
public let errSecInsufficientClientID: OSStatus = -67586
/// The device was reset during the operation. Apple: `errSecDeviceReset`.
public let errSecDeviceReset: OSStatus = -67587
/// The device reported a failure. Apple: `errSecDeviceFailed`.
public let errSecDeviceFailed: OSStatus = -67588
/// Adding an app as subject of the access control list failed. Apple: `errSecAppleAddAppACLSubject`.
public let errSecAppleAddAppACLSubject: OSStatus = -67589
/// The public key is incomplete. Apple: `errSecApplePublicKeyIncomplete`.
public let errSecApplePublicKeyIncomplete: OSStatus = -67590
/// The signature does not match the signed code. Apple: `errSecAppleSignatureMismatch`.
public let errSecAppleSignatureMismatch: OSStatus = -67591
/// The start date of the key is not valid. Apple: `errSecAppleInvalidKeyStartDate`.
public let errSecAppleInvalidKeyStartDate: OSStatus = -67592
/// The end date of the key is not valid. Apple: `errSecAppleInvalidKeyEndDate`.
public let errSecAppleInvalidKeyEndDate: OSStatus = -67593
/// The conversion of a value failed. Apple: `errSecConversionError`.
public let errSecConversionError: OSStatus = -67594
/// The connection was rolled back to SSL version 2. Apple: `errSecAppleSSLv2Rollback`.
public let errSecAppleSSLv2Rollback: OSStatus = -67595
/// The quota of the resource is exceeded. Apple: `errSecQuotaExceeded`.
public let errSecQuotaExceeded: OSStatus = -67596
/// The file is too large. Apple: `errSecFileTooBig`.
public let errSecFileTooBig: OSStatus = -67597
/// The database blob is not valid. Apple: `errSecInvalidDatabaseBlob`.
public let errSecInvalidDatabaseBlob: OSStatus = -67598
/// The key blob is not valid. Apple: `errSecInvalidKeyBlob`.
public let errSecInvalidKeyBlob: OSStatus = -67599
/// The database blob has an incompatible version. Apple: `errSecIncompatibleDatabaseBlob`.
public let errSecIncompatibleDatabaseBlob: OSStatus = -67600
/// The key blob has an incompatible version. Apple: `errSecIncompatibleKeyBlob`.
public let errSecIncompatibleKeyBlob: OSStatus = -67601
/// The host name does not match the certificate. Apple: `errSecHostNameMismatch`.
public let errSecHostNameMismatch: OSStatus = -67602
/// The certificate has an unknown critical extension. Apple: `errSecUnknownCriticalExtensionFlag`.
public let errSecUnknownCriticalExtensionFlag: OSStatus = -67603
/// The certificate has no basic constraints. Apple: `errSecNoBasicConstraints`.
public let errSecNoBasicConstraints: OSStatus = -67604
/// The basic constraints do not mark the certificate as a CA. Apple: `errSecNoBasicConstraintsCA`.
public let errSecNoBasicConstraintsCA: OSStatus = -67605
/// The authority key identifier is not valid. Apple: `errSecInvalidAuthorityKeyID`.
public let errSecInvalidAuthorityKeyID: OSStatus = -67606
/// The subject key identifier is not valid. Apple: `errSecInvalidSubjectKeyID`.
public let errSecInvalidSubjectKeyID: OSStatus = -67607
/// The key usage is not valid for the policy. Apple: `errSecInvalidKeyUsageForPolicy`.
public let errSecInvalidKeyUsageForPolicy: OSStatus = -67608
/// The extended key usage is not valid. Apple: `errSecInvalidExtendedKeyUsage`.
public let errSecInvalidExtendedKeyUsage: OSStatus = -67609
/// The identifier linkage is not valid. Apple: `errSecInvalidIDLinkage`.
public let errSecInvalidIDLinkage: OSStatus = -67610
/// The chain exceeds the path length constraint. Apple: `errSecPathLengthConstraintExceeded`.
public let errSecPathLengthConstraintExceeded: OSStatus = -67611
/// The root certificate is not valid. Apple: `errSecInvalidRoot`.
public let errSecInvalidRoot: OSStatus = -67612
/// The certificate revocation list has expired. Apple: `errSecCRLExpired`.
public let errSecCRLExpired: OSStatus = -67613
/// The certificate revocation list is not valid yet. Apple: `errSecCRLNotValidYet`.
public let errSecCRLNotValidYet: OSStatus = -67614
/// The certificate revocation list was not found. Apple: `errSecCRLNotFound`.
public let errSecCRLNotFound: OSStatus = -67615
/// The server of the certificate revocation list is not reachable. Apple: `errSecCRLServerDown`.
public let errSecCRLServerDown: OSStatus = -67616
/// The URI of the certificate revocation list is not valid. Apple: `errSecCRLBadURI`.
public let errSecCRLBadURI: OSStatus = -67617
/// The certificate has an unknown extension. Apple: `errSecUnknownCertExtension`.
public let errSecUnknownCertExtension: OSStatus = -67618
/// The certificate revocation list has an unknown extension. Apple: `errSecUnknownCRLExtension`.
public let errSecUnknownCRLExtension: OSStatus = -67619
/// The certificate revocation list is not trusted. Apple: `errSecCRLNotTrusted`.
public let errSecCRLNotTrusted: OSStatus = -67620
/// The certificate revocation list violates the policy. Apple: `errSecCRLPolicyFailed`.
public let errSecCRLPolicyFailed: OSStatus = -67621
/// The issuing distribution point is not valid. Apple: `errSecIDPFailure`.
public let errSecIDPFailure: OSStatus = -67622
/// The certificate does not contain the e-mail address of the S/MIME message.
/// Apple: `errSecSMIMEEmailAddressesNotFound`.
public let errSecSMIMEEmailAddressesNotFound: OSStatus = -67623
/// The extended key usage is not valid for S/MIME. Apple: `errSecSMIMEBadExtendedKeyUsage`.
public let errSecSMIMEBadExtendedKeyUsage: OSStatus = -67624
/// The key usage is not valid for S/MIME. Apple: `errSecSMIMEBadKeyUsage`.
public let errSecSMIMEBadKeyUsage: OSStatus = -67625
/// The key usage of the S/MIME certificate is not marked critical. Apple: `errSecSMIMEKeyUsageNotCritical`.
public let errSecSMIMEKeyUsageNotCritical: OSStatus = -67626
/// The S/MIME certificate has no e-mail address. Apple: `errSecSMIMENoEmailAddress`.
public let errSecSMIMENoEmailAddress: OSStatus = -67627
/// The subject alternative name of the S/MIME certificate is not marked critical.
/// Apple: `errSecSMIMESubjAltNameNotCritical`.
public let errSecSMIMESubjAltNameNotCritical: OSStatus = -67628
/// The extended key usage is not valid for TLS. Apple: `errSecSSLBadExtendedKeyUsage`.
public let errSecSSLBadExtendedKeyUsage: OSStatus = -67629
/// The OCSP response is malformed or wrong. Apple: `errSecOCSPBadResponse`.
public let errSecOCSPBadResponse: OSStatus = -67630
/// The OCSP request is malformed or wrong. Apple: `errSecOCSPBadRequest`.
public let errSecOCSPBadRequest: OSStatus = -67631
/// The OCSP service is not available. Apple: `errSecOCSPUnavailable`.
public let errSecOCSPUnavailable: OSStatus = -67632
/// The OCSP responder does not know the certificate. Apple: `errSecOCSPStatusUnrecognized`.
public let errSecOCSPStatusUnrecognized: OSStatus = -67633
/// The end of the data was reached unexpectedly. Apple: `errSecEndOfData`.
public let errSecEndOfData: OSStatus = -67634
/// The revocation check of the certificate was not completed. Apple: `errSecIncompleteCertRevocationCheck`.
public let errSecIncompleteCertRevocationCheck: OSStatus = -67635
/// An operation over the network failed. Apple: `errSecNetworkFailure`.
public let errSecNetworkFailure: OSStatus = -67636
/// The OCSP response does not chain to a trusted anchor. Apple: `errSecOCSPNotTrustedToAnchor`.
public let errSecOCSPNotTrustedToAnchor: OSStatus = -67637
/// The record was modified by another operation. Apple: `errSecRecordModified`.
public let errSecRecordModified: OSStatus = -67638
/// The signature of the OCSP response is not valid. Apple: `errSecOCSPSignatureError`.
public let errSecOCSPSignatureError: OSStatus = -67639
/// The OCSP response has no signer. Apple: `errSecOCSPNoSigner`.
public let errSecOCSPNoSigner: OSStatus = -67640
/// The OCSP responder received a malformed request. Apple: `errSecOCSPResponderMalformedReq`.
public let errSecOCSPResponderMalformedReq: OSStatus = -67641
/// The OCSP responder had an internal error. Apple: `errSecOCSPResponderInternalError`.
public let errSecOCSPResponderInternalError: OSStatus = -67642
/// The OCSP responder is busy; try again later. Apple: `errSecOCSPResponderTryLater`.
public let errSecOCSPResponderTryLater: OSStatus = -67643
/// The OCSP responder requires a signed request. Apple: `errSecOCSPResponderSignatureRequired`.
public let errSecOCSPResponderSignatureRequired: OSStatus = -67644
/// The OCSP responder rejected the request as unauthorised. Apple: `errSecOCSPResponderUnauthorized`.
public let errSecOCSPResponderUnauthorized: OSStatus = -67645
/// The nonce of the OCSP response does not match the request. Apple: `errSecOCSPResponseNonceMismatch`.
public let errSecOCSPResponseNonceMismatch: OSStatus = -67646
/// The certificate chain of the code signature has the wrong length. Apple: `errSecCodeSigningBadCertChainLength`.
public let errSecCodeSigningBadCertChainLength: OSStatus = -67647
/// A certificate of the code signature has no basic constraints. Apple: `errSecCodeSigningNoBasicConstraints`.
public let errSecCodeSigningNoBasicConstraints: OSStatus = -67648
/// A certificate of the code signature has a wrong path length constraint.
/// Apple: `errSecCodeSigningBadPathLengthConstraint`.
public let errSecCodeSigningBadPathLengthConstraint: OSStatus = -67649
/// The certificate of the code signature has no extended key usage. Apple: `errSecCodeSigningNoExtendedKeyUsage`.
public let errSecCodeSigningNoExtendedKeyUsage: OSStatus = -67650
/// The code was signed with a development certificate. Apple: `errSecCodeSigningDevelopment`.
public let errSecCodeSigningDevelopment: OSStatus = -67651
/// The certificate chain of the resource signature has the wrong length. Apple: `errSecResourceSignBadCertChainLength`.
public let errSecResourceSignBadCertChainLength: OSStatus = -67652
/// The extended key usage is not valid for signing resources. Apple: `errSecResourceSignBadExtKeyUsage`.
public let errSecResourceSignBadExtKeyUsage: OSStatus = -67653
/// The trust settings deny trust in the certificate. Apple: `errSecTrustSettingDeny`.
public let errSecTrustSettingDeny: OSStatus = -67654
/// The subject name is not valid. Apple: `errSecInvalidSubjectName`.
public let errSecInvalidSubjectName: OSStatus = -67655
/// The qualified certificate statement is not known. Apple: `errSecUnknownQualifiedCertStatement`.
public let errSecUnknownQualifiedCertStatement: OSStatus = -67656
/// The MobileMe request was queued. Apple: `errSecMobileMeRequestQueued`.
public let errSecMobileMeRequestQueued: OSStatus = -67657
/// The MobileMe request was redirected. Apple: `errSecMobileMeRequestRedirected`.
public let errSecMobileMeRequestRedirected: OSStatus = -67658
/// The MobileMe server reported an error. Apple: `errSecMobileMeServerError`.
public let errSecMobileMeServerError: OSStatus = -67659
/// The MobileMe server is not available. Apple: `errSecMobileMeServerNotAvailable`.
public let errSecMobileMeServerNotAvailable: OSStatus = -67660
/// The MobileMe server has this entry already. Apple: `errSecMobileMeServerAlreadyExists`.
public let errSecMobileMeServerAlreadyExists: OSStatus = -67661
/// The service of the MobileMe server reported an error. Apple: `errSecMobileMeServerServiceErr`.
public let errSecMobileMeServerServiceErr: OSStatus = -67662
/// A MobileMe request is pending already. Apple: `errSecMobileMeRequestAlreadyPending`.
public let errSecMobileMeRequestAlreadyPending: OSStatus = -67663
/// There is no pending MobileMe request. Apple: `errSecMobileMeNoRequestPending`.
public let errSecMobileMeNoRequestPending: OSStatus = -67664
/// The MobileMe certificate signing request could not be verified. Apple: `errSecMobileMeCSRVerifyFailure`.
public let errSecMobileMeCSRVerifyFailure: OSStatus = -67665
/// A consistency check of MobileMe failed. Apple: `errSecMobileMeFailedConsistencyCheck`.
public let errSecMobileMeFailedConsistencyCheck: OSStatus = -67666
/// The library or module is not initialised. Apple: `errSecNotInitialized`.
public let errSecNotInitialized: OSStatus = -67667
/// The handle is not valid for this use. Apple: `errSecInvalidHandleUsage`.
public let errSecInvalidHandleUsage: OSStatus = -67668
/// The PVC referent was not found. Apple: `errSecPVCReferentNotFound`.
public let errSecPVCReferentNotFound: OSStatus = -67669
/// The integrity check of a function failed. Apple: `errSecFunctionIntegrityFail`.
public let errSecFunctionIntegrityFail: OSStatus = -67670
/// An internal error occurred in a module. Apple: `errSecInternalError`.
public let errSecInternalError: OSStatus = -67671
/// A module could not allocate memory. Apple: `errSecMemoryError`.
public let errSecMemoryError: OSStatus = -67672
/// The data is not valid. Apple: `errSecInvalidData`.
public let errSecInvalidData: OSStatus = -67673
/// The module directory service reported an error. Apple: `errSecMDSError`.
public let errSecMDSError: OSStatus = -67674
/// The pointer is not valid. Apple: `errSecInvalidPointer`.
public let errSecInvalidPointer: OSStatus = -67675
/// The self-check of the module failed. Apple: `errSecSelfCheckFailed`.
public let errSecSelfCheckFailed: OSStatus = -67676
/// A function failed for an unspecified reason. Apple: `errSecFunctionFailed`.
public let errSecFunctionFailed: OSStatus = -67677
/// The manifest of the module could not be verified. Apple: `errSecModuleManifestVerifyFailed`.
public let errSecModuleManifestVerifyFailed: OSStatus = -67678
/// The GUID is not valid. Apple: `errSecInvalidGUID`.
public let errSecInvalidGUID: OSStatus = -67679
/// The handle is not valid. Apple: `errSecInvalidHandle`.
public let errSecInvalidHandle: OSStatus = -67680
/// The list of databases is not valid. Apple: `errSecInvalidDBList`.
public let errSecInvalidDBList: OSStatus = -67681
/// The passthrough identifier is not valid. Apple: `errSecInvalidPassthroughID`.
public let errSecInvalidPassthroughID: OSStatus = -67682
/// The network address is not valid. Apple: `errSecInvalidNetworkAddress`.
public let errSecInvalidNetworkAddress: OSStatus = -67683
/// The certificate revocation list is signed already. Apple: `errSecCRLAlreadySigned`.
public let errSecCRLAlreadySigned: OSStatus = -67684
/// The number of fields is not valid. Apple: `errSecInvalidNumberOfFields`.
public let errSecInvalidNumberOfFields: OSStatus = -67685
/// A verification of data failed. Apple: `errSecVerificationFailure`.
public let errSecVerificationFailure: OSStatus = -67686
/// The tag is unknown to the module. Apple: `errSecUnknownTag`.
public let errSecUnknownTag: OSStatus = -67687
/// The signature is not valid. Apple: `errSecInvalidSignature`.
public let errSecInvalidSignature: OSStatus = -67688
/// The name is not valid. Apple: `errSecInvalidName`.
public let errSecInvalidName: OSStatus = -67689
/// The certificate reference is not valid. Apple: `errSecInvalidCertificateRef`.
public let errSecInvalidCertificateRef: OSStatus = -67690
/// The certificate group is not valid. Apple: `errSecInvalidCertificateGroup`.
public let errSecInvalidCertificateGroup: OSStatus = -67691
/// The tag was not found. Apple: `errSecTagNotFound`.
public let errSecTagNotFound: OSStatus = -67692
/// The query is not valid. Apple: `errSecInvalidQuery`.
public let errSecInvalidQuery: OSStatus = -67693
/// The value is not valid. Apple: `errSecInvalidValue`.
public let errSecInvalidValue: OSStatus = -67694
/// A callback function reported a failure. Apple: `errSecCallbackFailed`.
public let errSecCallbackFailed: OSStatus = -67695
/// The access control list could not be deleted. Apple: `errSecACLDeleteFailed`.
public let errSecACLDeleteFailed: OSStatus = -67696
/// The access control list could not be replaced. Apple: `errSecACLReplaceFailed`.
public let errSecACLReplaceFailed: OSStatus = -67697
/// The access control list could not be added. Apple: `errSecACLAddFailed`.
public let errSecACLAddFailed: OSStatus = -67698
/// The access control list could not be changed. Apple: `errSecACLChangeFailed`.
public let errSecACLChangeFailed: OSStatus = -67699
/// The access credentials are not valid. Apple: `errSecInvalidAccessCredentials`.
public let errSecInvalidAccessCredentials: OSStatus = -67700
/// The record is not valid. Apple: `errSecInvalidRecord`.
public let errSecInvalidRecord: OSStatus = -67701
/// The ACL is not valid. Apple: `errSecInvalidACL`.
public let errSecInvalidACL: OSStatus = -67702
/// The sample value is not valid. Apple: `errSecInvalidSampleValue`.
public let errSecInvalidSampleValue: OSStatus = -67703
/// The version of the module is not compatible. Apple: `errSecIncompatibleVersion`.
public let errSecIncompatibleVersion: OSStatus = -67704
/// The requested privilege was not granted. Apple: `errSecPrivilegeNotGranted`.
public let errSecPrivilegeNotGranted: OSStatus = -67705
/// The scope is not valid. Apple: `errSecInvalidScope`.
public let errSecInvalidScope: OSStatus = -67706
/// The pointer validation check is configured already. Apple: `errSecPVCAlreadyConfigured`.
public let errSecPVCAlreadyConfigured: OSStatus = -67707
/// The PVC is not valid. Apple: `errSecInvalidPVC`.
public let errSecInvalidPVC: OSStatus = -67708
/// The elective module manager could not be loaded. Apple: `errSecEMMLoadFailed`.
public let errSecEMMLoadFailed: OSStatus = -67709
/// The elective module manager could not be unloaded. Apple: `errSecEMMUnloadFailed`.
public let errSecEMMUnloadFailed: OSStatus = -67710
/// The add-in module could not be loaded. Apple: `errSecAddinLoadFailed`.
public let errSecAddinLoadFailed: OSStatus = -67711
/// The key reference is not valid. Apple: `errSecInvalidKeyRef`.
public let errSecInvalidKeyRef: OSStatus = -67712
/// The key hierarchy is not valid. Apple: `errSecInvalidKeyHierarchy`.
public let errSecInvalidKeyHierarchy: OSStatus = -67713
/// The add-in module could not be unloaded. Apple: `errSecAddinUnloadFailed`.
public let errSecAddinUnloadFailed: OSStatus = -67714
/// The library reference was not found. Apple: `errSecLibraryReferenceNotFound`.
public let errSecLibraryReferenceNotFound: OSStatus = -67715
/// The add-in function table is not valid. Apple: `errSecInvalidAddinFunctionTable`.
public let errSecInvalidAddinFunctionTable: OSStatus = -67716
/// The service mask is not valid. Apple: `errSecInvalidServiceMask`.
public let errSecInvalidServiceMask: OSStatus = -67717
/// The module is not loaded. Apple: `errSecModuleNotLoaded`.
public let errSecModuleNotLoaded: OSStatus = -67718
/// The subservice identifier is not valid. Apple: `errSecInvalidSubServiceID`.
public let errSecInvalidSubServiceID: OSStatus = -67719
/// The context does not have the attribute. Apple: `errSecAttributeNotInContext`.
public let errSecAttributeNotInContext: OSStatus = -67720
/// The module manager could not be initialised. Apple: `errSecModuleManagerInitializeFailed`.
public let errSecModuleManagerInitializeFailed: OSStatus = -67721
/// The module manager was not found. Apple: `errSecModuleManagerNotFound`.
public let errSecModuleManagerNotFound: OSStatus = -67722
/// The event notification callback was not found. Apple: `errSecEventNotificationCallbackNotFound`.
public let errSecEventNotificationCallbackNotFound: OSStatus = -67723
/// The length of the input is not valid. Apple: `errSecInputLengthError`.
public let errSecInputLengthError: OSStatus = -67724
/// The length of the output is not valid. Apple: `errSecOutputLengthError`.
public let errSecOutputLengthError: OSStatus = -67725
/// The privilege is not supported. Apple: `errSecPrivilegeNotSupported`.
public let errSecPrivilegeNotSupported: OSStatus = -67726
/// The device reported an error. Apple: `errSecDeviceError`.
public let errSecDeviceError: OSStatus = -67727
/// The attach handle is busy. Apple: `errSecAttachHandleBusy`.
public let errSecAttachHandleBusy: OSStatus = -67728
/// The user is not logged in. Apple: `errSecNotLoggedIn`.
public let errSecNotLoggedIn: OSStatus = -67729
/// The algorithm does not match. Apple: `errSecAlgorithmMismatch`.
public let errSecAlgorithmMismatch: OSStatus = -67730
/// The key may not be used in this way. Apple: `errSecKeyUsageIncorrect`.
public let errSecKeyUsageIncorrect: OSStatus = -67731
/// The type of the key blob is wrong. Apple: `errSecKeyBlobTypeIncorrect`.
public let errSecKeyBlobTypeIncorrect: OSStatus = -67732
/// The header of the key does not match its contents. Apple: `errSecKeyHeaderInconsistent`.
public let errSecKeyHeaderInconsistent: OSStatus = -67733
/// The key format is not supported. Apple: `errSecUnsupportedKeyFormat`.
public let errSecUnsupportedKeyFormat: OSStatus = -67734
/// The key size is not supported. Apple: `errSecUnsupportedKeySize`.
public let errSecUnsupportedKeySize: OSStatus = -67735
/// The key usage mask is not valid. Apple: `errSecInvalidKeyUsageMask`.
public let errSecInvalidKeyUsageMask: OSStatus = -67736
/// The key usage mask is not supported. Apple: `errSecUnsupportedKeyUsageMask`.
public let errSecUnsupportedKeyUsageMask: OSStatus = -67737
/// The key attribute mask is not valid. Apple: `errSecInvalidKeyAttributeMask`.
public let errSecInvalidKeyAttributeMask: OSStatus = -67738
/// The key attribute mask is not supported. Apple: `errSecUnsupportedKeyAttributeMask`.
public let errSecUnsupportedKeyAttributeMask: OSStatus = -67739
/// The key label is not valid. Apple: `errSecInvalidKeyLabel`.
public let errSecInvalidKeyLabel: OSStatus = -67740
/// The key label is not supported. Apple: `errSecUnsupportedKeyLabel`.
public let errSecUnsupportedKeyLabel: OSStatus = -67741
/// The key format is not valid. Apple: `errSecInvalidKeyFormat`.
public let errSecInvalidKeyFormat: OSStatus = -67742
/// Vectors of several buffers are not supported. Apple: `errSecUnsupportedVectorOfBuffers`.
public let errSecUnsupportedVectorOfBuffers: OSStatus = -67743
/// The input vector is not valid. Apple: `errSecInvalidInputVector`.
public let errSecInvalidInputVector: OSStatus = -67744
/// The output vector is not valid. Apple: `errSecInvalidOutputVector`.
public let errSecInvalidOutputVector: OSStatus = -67745
/// The context is not valid. Apple: `errSecInvalidContext`.
public let errSecInvalidContext: OSStatus = -67746
/// The algorithm is not valid. Apple: `errSecInvalidAlgorithm`.
public let errSecInvalidAlgorithm: OSStatus = -67747
/// The attribute key is not valid. Apple: `errSecInvalidAttributeKey`.
public let errSecInvalidAttributeKey: OSStatus = -67748
/// The attribute key is missing. Apple: `errSecMissingAttributeKey`.
public let errSecMissingAttributeKey: OSStatus = -67749
/// The attribute initialisation vector is not valid. Apple: `errSecInvalidAttributeInitVector`.
public let errSecInvalidAttributeInitVector: OSStatus = -67750
/// The attribute initialisation vector is missing. Apple: `errSecMissingAttributeInitVector`.
public let errSecMissingAttributeInitVector: OSStatus = -67751
/// The attribute salt is not valid. Apple: `errSecInvalidAttributeSalt`.
public let errSecInvalidAttributeSalt: OSStatus = -67752
/// The attribute salt is missing. Apple: `errSecMissingAttributeSalt`.
public let errSecMissingAttributeSalt: OSStatus = -67753
/// The attribute padding is not valid. Apple: `errSecInvalidAttributePadding`.
public let errSecInvalidAttributePadding: OSStatus = -67754
/// The attribute padding is missing. Apple: `errSecMissingAttributePadding`.
public let errSecMissingAttributePadding: OSStatus = -67755
/// The random number attribute is not valid. Apple: `errSecInvalidAttributeRandom`.
public let errSecInvalidAttributeRandom: OSStatus = -67756
/// The random number attribute is missing. Apple: `errSecMissingAttributeRandom`.
public let errSecMissingAttributeRandom: OSStatus = -67757
/// The attribute seed is not valid. Apple: `errSecInvalidAttributeSeed`.
public let errSecInvalidAttributeSeed: OSStatus = -67758
/// The attribute seed is missing. Apple: `errSecMissingAttributeSeed`.
public let errSecMissingAttributeSeed: OSStatus = -67759
/// The attribute passphrase is not valid. Apple: `errSecInvalidAttributePassphrase`.
public let errSecInvalidAttributePassphrase: OSStatus = -67760
/// The attribute passphrase is missing. Apple: `errSecMissingAttributePassphrase`.
public let errSecMissingAttributePassphrase: OSStatus = -67761
/// The attribute key length is not valid. Apple: `errSecInvalidAttributeKeyLength`.
public let errSecInvalidAttributeKeyLength: OSStatus = -67762
/// The attribute key length is missing. Apple: `errSecMissingAttributeKeyLength`.
public let errSecMissingAttributeKeyLength: OSStatus = -67763
/// The attribute block size is not valid. Apple: `errSecInvalidAttributeBlockSize`.
public let errSecInvalidAttributeBlockSize: OSStatus = -67764
/// The attribute block size is missing. Apple: `errSecMissingAttributeBlockSize`.
public let errSecMissingAttributeBlockSize: OSStatus = -67765
/// The attribute output size is not valid. Apple: `errSecInvalidAttributeOutputSize`.
public let errSecInvalidAttributeOutputSize: OSStatus = -67766
/// The attribute output size is missing. Apple: `errSecMissingAttributeOutputSize`.
public let errSecMissingAttributeOutputSize: OSStatus = -67767
/// The attribute rounds are not valid. Apple: `errSecInvalidAttributeRounds`.
public let errSecInvalidAttributeRounds: OSStatus = -67768
/// The attribute rounds are missing. Apple: `errSecMissingAttributeRounds`.
public let errSecMissingAttributeRounds: OSStatus = -67769
/// The algorithm parameters are not valid. Apple: `errSecInvalidAlgorithmParms`.
public let errSecInvalidAlgorithmParms: OSStatus = -67770
/// The algorithm parameters are missing. Apple: `errSecMissingAlgorithmParms`.
public let errSecMissingAlgorithmParms: OSStatus = -67771
/// The attribute label is not valid. Apple: `errSecInvalidAttributeLabel`.
public let errSecInvalidAttributeLabel: OSStatus = -67772
/// The attribute label is missing. Apple: `errSecMissingAttributeLabel`.
public let errSecMissingAttributeLabel: OSStatus = -67773
/// The attribute key type is not valid. Apple: `errSecInvalidAttributeKeyType`.
public let errSecInvalidAttributeKeyType: OSStatus = -67774
/// The attribute key type is missing. Apple: `errSecMissingAttributeKeyType`.
public let errSecMissingAttributeKeyType: OSStatus = -67775
/// The attribute mode is not valid. Apple: `errSecInvalidAttributeMode`.
public let errSecInvalidAttributeMode: OSStatus = -67776
/// The attribute mode is missing. Apple: `errSecMissingAttributeMode`.
public let errSecMissingAttributeMode: OSStatus = -67777
/// The attribute effective bits are not valid. Apple: `errSecInvalidAttributeEffectiveBits`.
public let errSecInvalidAttributeEffectiveBits: OSStatus = -67778
/// The attribute effective bits are missing. Apple: `errSecMissingAttributeEffectiveBits`.
public let errSecMissingAttributeEffectiveBits: OSStatus = -67779
/// The attribute start date is not valid. Apple: `errSecInvalidAttributeStartDate`.
public let errSecInvalidAttributeStartDate: OSStatus = -67780
/// The attribute start date is missing. Apple: `errSecMissingAttributeStartDate`.
public let errSecMissingAttributeStartDate: OSStatus = -67781
/// The attribute end date is not valid. Apple: `errSecInvalidAttributeEndDate`.
public let errSecInvalidAttributeEndDate: OSStatus = -67782
/// The attribute end date is missing. Apple: `errSecMissingAttributeEndDate`.
public let errSecMissingAttributeEndDate: OSStatus = -67783
/// The attribute version is not valid. Apple: `errSecInvalidAttributeVersion`.
public let errSecInvalidAttributeVersion: OSStatus = -67784
/// The attribute version is missing. Apple: `errSecMissingAttributeVersion`.
public let errSecMissingAttributeVersion: OSStatus = -67785
/// The attribute prime is not valid. Apple: `errSecInvalidAttributePrime`.
public let errSecInvalidAttributePrime: OSStatus = -67786
/// The attribute prime is missing. Apple: `errSecMissingAttributePrime`.
public let errSecMissingAttributePrime: OSStatus = -67787
/// The attribute base is not valid. Apple: `errSecInvalidAttributeBase`.
public let errSecInvalidAttributeBase: OSStatus = -67788
/// The attribute base is missing. Apple: `errSecMissingAttributeBase`.
public let errSecMissingAttributeBase: OSStatus = -67789
/// The attribute subprime is not valid. Apple: `errSecInvalidAttributeSubprime`.
public let errSecInvalidAttributeSubprime: OSStatus = -67790
/// The attribute subprime is missing. Apple: `errSecMissingAttributeSubprime`.
public let errSecMissingAttributeSubprime: OSStatus = -67791
/// The attribute iteration count is not valid. Apple: `errSecInvalidAttributeIterationCount`.
public let errSecInvalidAttributeIterationCount: OSStatus = -67792
/// The attribute iteration count is missing. Apple: `errSecMissingAttributeIterationCount`.
public let errSecMissingAttributeIterationCount: OSStatus = -67793
/// The attribute DLDB handle is not valid. Apple: `errSecInvalidAttributeDLDBHandle`.
public let errSecInvalidAttributeDLDBHandle: OSStatus = -67794
/// The attribute DLDB handle is missing. Apple: `errSecMissingAttributeDLDBHandle`.
public let errSecMissingAttributeDLDBHandle: OSStatus = -67795
/// The attribute access credentials are not valid. Apple: `errSecInvalidAttributeAccessCredentials`.
public let errSecInvalidAttributeAccessCredentials: OSStatus = -67796
/// The attribute access credentials are missing. Apple: `errSecMissingAttributeAccessCredentials`.
public let errSecMissingAttributeAccessCredentials: OSStatus = -67797
/// The attribute public key format is not valid. Apple: `errSecInvalidAttributePublicKeyFormat`.
public let errSecInvalidAttributePublicKeyFormat: OSStatus = -67798
/// The attribute public key format is missing. Apple: `errSecMissingAttributePublicKeyFormat`.
public let errSecMissingAttributePublicKeyFormat: OSStatus = -67799
/// The attribute private key format is not valid. Apple: `errSecInvalidAttributePrivateKeyFormat`.
public let errSecInvalidAttributePrivateKeyFormat: OSStatus = -67800
/// The attribute private key format is missing. Apple: `errSecMissingAttributePrivateKeyFormat`.
public let errSecMissingAttributePrivateKeyFormat: OSStatus = -67801
/// The attribute symmetric key format is not valid. Apple: `errSecInvalidAttributeSymmetricKeyFormat`.
public let errSecInvalidAttributeSymmetricKeyFormat: OSStatus = -67802
/// The attribute symmetric key format is missing. Apple: `errSecMissingAttributeSymmetricKeyFormat`.
public let errSecMissingAttributeSymmetricKeyFormat: OSStatus = -67803
/// The attribute wrapped key format is not valid. Apple: `errSecInvalidAttributeWrappedKeyFormat`.
public let errSecInvalidAttributeWrappedKeyFormat: OSStatus = -67804
/// The attribute wrapped key format is missing. Apple: `errSecMissingAttributeWrappedKeyFormat`.
public let errSecMissingAttributeWrappedKeyFormat: OSStatus = -67805
/// A staged operation is in progress. Apple: `errSecStagedOperationInProgress`.
public let errSecStagedOperationInProgress: OSStatus = -67806
/// The staged operation was not started. Apple: `errSecStagedOperationNotStarted`.
public let errSecStagedOperationNotStarted: OSStatus = -67807
/// The signature or the MAC is not valid. Apple: `errSecVerifyFailed`.
public let errSecVerifyFailed: OSStatus = -67808
/// The size of the query result is unknown. Apple: `errSecQuerySizeUnknown`.
public let errSecQuerySizeUnknown: OSStatus = -67809
/// The block size does not match. Apple: `errSecBlockSizeMismatch`.
public let errSecBlockSizeMismatch: OSStatus = -67810
/// The public key is not consistent with the private key. Apple: `errSecPublicKeyInconsistent`.
public let errSecPublicKeyInconsistent: OSStatus = -67811
/// The device could not be verified. Apple: `errSecDeviceVerifyFailed`.
public let errSecDeviceVerifyFailed: OSStatus = -67812
/// The login name is not valid. Apple: `errSecInvalidLoginName`.
public let errSecInvalidLoginName: OSStatus = -67813
/// The user is logged in already. Apple: `errSecAlreadyLoggedIn`.
public let errSecAlreadyLoggedIn: OSStatus = -67814
/// The digest algorithm is not valid. Apple: `errSecInvalidDigestAlgorithm`.
public let errSecInvalidDigestAlgorithm: OSStatus = -67815
/// The CRL group is not valid. Apple: `errSecInvalidCRLGroup`.
public let errSecInvalidCRLGroup: OSStatus = -67816
/// The certificate does not permit the operation. Apple: `errSecCertificateCannotOperate`.
public let errSecCertificateCannotOperate: OSStatus = -67817
/// The validity period of the certificate has ended. Apple: `errSecCertificateExpired`.
public let errSecCertificateExpired: OSStatus = -67818
/// The certificate is not valid yet. Apple: `errSecCertificateNotValidYet`.
public let errSecCertificateNotValidYet: OSStatus = -67819
/// The certificate was revoked by its issuer. Apple: `errSecCertificateRevoked`.
public let errSecCertificateRevoked: OSStatus = -67820
/// The certificate was suspended by its issuer. Apple: `errSecCertificateSuspended`.
public let errSecCertificateSuspended: OSStatus = -67821
/// The credentials are not sufficient for the operation. Apple: `errSecInsufficientCredentials`.
public let errSecInsufficientCredentials: OSStatus = -67822
/// The action is not valid. Apple: `errSecInvalidAction`.
public let errSecInvalidAction: OSStatus = -67823
/// The authority is not valid. Apple: `errSecInvalidAuthority`.
public let errSecInvalidAuthority: OSStatus = -67824
/// The verify action of the request failed. Apple: `errSecVerifyActionFailed`.
public let errSecVerifyActionFailed: OSStatus = -67825
/// The certificate authority is not valid. Apple: `errSecInvalidCertAuthority`.
public let errSecInvalidCertAuthority: OSStatus = -67826
/// Former or misspelt name of `errSecInvalidCRLAuthority`, with the same value. Apple: `errSecInvaldCRLAuthority`.
@available(*, deprecated, renamed: "errSecInvalidCRLAuthority")
public let errSecInvaldCRLAuthority: OSStatus = -67827
/// The CRL authority is not valid. Apple: `errSecInvalidCRLAuthority`.
public let errSecInvalidCRLAuthority: OSStatus = -67827
/// The CRL encoding is not valid. Apple: `errSecInvalidCRLEncoding`.
public let errSecInvalidCRLEncoding: OSStatus = -67828
/// The CRL type is not valid. Apple: `errSecInvalidCRLType`.
public let errSecInvalidCRLType: OSStatus = -67829
/// The CRL is not valid. Apple: `errSecInvalidCRL`.
public let errSecInvalidCRL: OSStatus = -67830
/// The form type is not valid. Apple: `errSecInvalidFormType`.
public let errSecInvalidFormType: OSStatus = -67831
/// The ID is not valid. Apple: `errSecInvalidID`.
public let errSecInvalidID: OSStatus = -67832
/// The identifier is not valid. Apple: `errSecInvalidIdentifier`.
public let errSecInvalidIdentifier: OSStatus = -67833
/// The index is not valid. Apple: `errSecInvalidIndex`.
public let errSecInvalidIndex: OSStatus = -67834
/// The policy identifiers are not valid. Apple: `errSecInvalidPolicyIdentifiers`.
public let errSecInvalidPolicyIdentifiers: OSStatus = -67835
/// The time string is not valid. Apple: `errSecInvalidTimeString`.
public let errSecInvalidTimeString: OSStatus = -67836
/// The reason is not valid. Apple: `errSecInvalidReason`.
public let errSecInvalidReason: OSStatus = -67837
/// The request inputs are not valid. Apple: `errSecInvalidRequestInputs`.
public let errSecInvalidRequestInputs: OSStatus = -67838
/// The response vector is not valid. Apple: `errSecInvalidResponseVector`.
public let errSecInvalidResponseVector: OSStatus = -67839
/// The stop-on policy is not valid. Apple: `errSecInvalidStopOnPolicy`.
public let errSecInvalidStopOnPolicy: OSStatus = -67840
/// The tuple is not valid. Apple: `errSecInvalidTuple`.
public let errSecInvalidTuple: OSStatus = -67841
/// Multiple values are not supported. Apple: `errSecMultipleValuesUnsupported`.
public let errSecMultipleValuesUnsupported: OSStatus = -67842
/// The certificate is not trusted. Apple: `errSecNotTrusted`.
public let errSecNotTrusted: OSStatus = -67843
/// There is no default authority. Apple: `errSecNoDefaultAuthority`.
public let errSecNoDefaultAuthority: OSStatus = -67844
/// The form was rejected by the authority. Apple: `errSecRejectedForm`.
public let errSecRejectedForm: OSStatus = -67845
/// The request was lost before it was processed. Apple: `errSecRequestLost`.
public let errSecRequestLost: OSStatus = -67846
/// The request was rejected by the authority. Apple: `errSecRequestRejected`.
public let errSecRequestRejected: OSStatus = -67847
/// The address type is not supported. Apple: `errSecUnsupportedAddressType`.
public let errSecUnsupportedAddressType: OSStatus = -67848
/// The service is not supported. Apple: `errSecUnsupportedService`.
public let errSecUnsupportedService: OSStatus = -67849
/// The tuple group is not valid. Apple: `errSecInvalidTupleGroup`.
public let errSecInvalidTupleGroup: OSStatus = -67850
/// The base access control lists are not valid. Apple: `errSecInvalidBaseACLs`.
public let errSecInvalidBaseACLs: OSStatus = -67851
/// Former or misspelt name of `errSecInvalidTupleCredentials`, with the same value.
/// Apple: `errSecInvalidTupleCredendtials`.
@available(*, deprecated, renamed: "errSecInvalidTupleCredentials")
public let errSecInvalidTupleCredendtials: OSStatus = -67852
/// The tuple credentials are not valid. Apple: `errSecInvalidTupleCredentials`.
public let errSecInvalidTupleCredentials: OSStatus = -67852
/// The encoding is not valid. Apple: `errSecInvalidEncoding`.
public let errSecInvalidEncoding: OSStatus = -67853
/// The validity period is not valid. Apple: `errSecInvalidValidityPeriod`.
public let errSecInvalidValidityPeriod: OSStatus = -67854
/// The requestor is not valid. Apple: `errSecInvalidRequestor`.
public let errSecInvalidRequestor: OSStatus = -67855
/// The request descriptor is not valid. Apple: `errSecRequestDescriptor`.
public let errSecRequestDescriptor: OSStatus = -67856
/// The bundle information is not valid. Apple: `errSecInvalidBundleInfo`.
public let errSecInvalidBundleInfo: OSStatus = -67857
/// The CRL index is not valid. Apple: `errSecInvalidCRLIndex`.
public let errSecInvalidCRLIndex: OSStatus = -67858
/// There are no field values. Apple: `errSecNoFieldValues`.
public let errSecNoFieldValues: OSStatus = -67859
/// The field format is not supported. Apple: `errSecUnsupportedFieldFormat`.
public let errSecUnsupportedFieldFormat: OSStatus = -67860
/// The index information is not supported. Apple: `errSecUnsupportedIndexInfo`.
public let errSecUnsupportedIndexInfo: OSStatus = -67861
/// The locality is not supported. Apple: `errSecUnsupportedLocality`.
public let errSecUnsupportedLocality: OSStatus = -67862
/// The number of attributes is not supported. Apple: `errSecUnsupportedNumAttributes`.
public let errSecUnsupportedNumAttributes: OSStatus = -67863
/// The number of indexes is not supported. Apple: `errSecUnsupportedNumIndexes`.
public let errSecUnsupportedNumIndexes: OSStatus = -67864
/// The number of record types is not supported. Apple: `errSecUnsupportedNumRecordTypes`.
public let errSecUnsupportedNumRecordTypes: OSStatus = -67865
/// A field was specified more than once. Apple: `errSecFieldSpecifiedMultiple`.
public let errSecFieldSpecifiedMultiple: OSStatus = -67866
/// The field has an incompatible format. Apple: `errSecIncompatibleFieldFormat`.
public let errSecIncompatibleFieldFormat: OSStatus = -67867
/// The parsing module is not valid. Apple: `errSecInvalidParsingModule`.
public let errSecInvalidParsingModule: OSStatus = -67868
/// The database is locked at the moment. Apple: `errSecDatabaseLocked`.
public let errSecDatabaseLocked: OSStatus = -67869
/// The data store is open already. Apple: `errSecDatastoreIsOpen`.
public let errSecDatastoreIsOpen: OSStatus = -67870
/// A required value is missing. Apple: `errSecMissingValue`.
public let errSecMissingValue: OSStatus = -67871
/// The query limits are not supported. Apple: `errSecUnsupportedQueryLimits`.
public let errSecUnsupportedQueryLimits: OSStatus = -67872
/// The number of selection predicates is not supported. Apple: `errSecUnsupportedNumSelectionPreds`.
public let errSecUnsupportedNumSelectionPreds: OSStatus = -67873
/// The operator is not supported. Apple: `errSecUnsupportedOperator`.
public let errSecUnsupportedOperator: OSStatus = -67874
/// The location of the database is not valid. Apple: `errSecInvalidDBLocation`.
public let errSecInvalidDBLocation: OSStatus = -67875
/// The access request is not valid. Apple: `errSecInvalidAccessRequest`.
public let errSecInvalidAccessRequest: OSStatus = -67876
/// The index information is not valid. Apple: `errSecInvalidIndexInfo`.
public let errSecInvalidIndexInfo: OSStatus = -67877
/// The new owner is not valid. Apple: `errSecInvalidNewOwner`.
public let errSecInvalidNewOwner: OSStatus = -67878
/// The modify mode is not valid. Apple: `errSecInvalidModifyMode`.
public let errSecInvalidModifyMode: OSStatus = -67879
/// A required extension is missing. Apple: `errSecMissingRequiredExtension`.
public let errSecMissingRequiredExtension: OSStatus = -67880
/// The extended key usage is not marked critical. Apple: `errSecExtendedKeyUsageNotCritical`.
public let errSecExtendedKeyUsageNotCritical: OSStatus = -67881
/// The code signature has no timestamp. Apple: `errSecTimestampMissing`.
public let errSecTimestampMissing: OSStatus = -67882
/// The timestamp is not valid. Apple: `errSecTimestampInvalid`.
public let errSecTimestampInvalid: OSStatus = -67883
/// The timestamp is not trusted. Apple: `errSecTimestampNotTrusted`.
public let errSecTimestampNotTrusted: OSStatus = -67884
/// The timestamp service is not available. Apple: `errSecTimestampServiceNotAvailable`.
public let errSecTimestampServiceNotAvailable: OSStatus = -67885
/// The timestamp uses an unsupported algorithm. Apple: `errSecTimestampBadAlg`.
public let errSecTimestampBadAlg: OSStatus = -67886
/// The timestamp request is malformed. Apple: `errSecTimestampBadRequest`.
public let errSecTimestampBadRequest: OSStatus = -67887
/// The timestamp data has a wrong format. Apple: `errSecTimestampBadDataFormat`.
public let errSecTimestampBadDataFormat: OSStatus = -67888
/// The time source of the timestamp server is not available. Apple: `errSecTimestampTimeNotAvailable`.
public let errSecTimestampTimeNotAvailable: OSStatus = -67889
/// The timestamp policy is not accepted by the server. Apple: `errSecTimestampUnacceptedPolicy`.
public let errSecTimestampUnacceptedPolicy: OSStatus = -67890
/// The timestamp extension is not accepted by the server. Apple: `errSecTimestampUnacceptedExtension`.
public let errSecTimestampUnacceptedExtension: OSStatus = -67891
/// Additional information for the timestamp is not available. Apple: `errSecTimestampAddInfoNotAvailable`.
public let errSecTimestampAddInfoNotAvailable: OSStatus = -67892
/// The timestamp server had a system failure. Apple: `errSecTimestampSystemFailure`.
public let errSecTimestampSystemFailure: OSStatus = -67893
/// The signing time is missing. Apple: `errSecSigningTimeMissing`.
public let errSecSigningTimeMissing: OSStatus = -67894
/// The timestamp server rejected the request. Apple: `errSecTimestampRejection`.
public let errSecTimestampRejection: OSStatus = -67895
/// The timestamp request is waiting for an answer. Apple: `errSecTimestampWaiting`.
public let errSecTimestampWaiting: OSStatus = -67896
/// The timestamp server warns that a revocation is imminent. Apple: `errSecTimestampRevocationWarning`.
public let errSecTimestampRevocationWarning: OSStatus = -67897
/// The timestamp server reported a revocation. Apple: `errSecTimestampRevocationNotification`.
public let errSecTimestampRevocationNotification: OSStatus = -67898
/// The certificate policy is not allowed. Apple: `errSecCertificatePolicyNotAllowed`.
public let errSecCertificatePolicyNotAllowed: OSStatus = -67899
/// The name in the certificate is not allowed. Apple: `errSecCertificateNameNotAllowed`.
public let errSecCertificateNameNotAllowed: OSStatus = -67900
/// The validity period of the certificate is too long. Apple: `errSecCertificateValidityPeriodTooLong`.
public let errSecCertificateValidityPeriodTooLong: OSStatus = -67901
/// The certificate is a CA certificate. Apple: `errSecCertificateIsCA`.
public let errSecCertificateIsCA: OSStatus = -67902
/// The certificate has an extension twice. Apple: `errSecCertificateDuplicateExtension`.
public let errSecCertificateDuplicateExtension: OSStatus = -67903
/// The qualified certificate statement is missing. Apple: `errSecMissingQualifiedCertStatement`.
public let errSecMissingQualifiedCertStatement: OSStatus = -67904
