// SPDX-License-Identifier: Apache-2.0
// Long: a table of names and values.

// Names and values of Apple's result codes, compared with Tests/Vectors/security.tsv by `SecurityConstantTests`.
// Latchkey returns none of these.

/// Multiple exec segments.
public let errSecMultipleExecSegments: OSStatus = -66995
/// Needed service missing.
public let errSecServiceNotAvailable: OSStatus = -67585
/// Insufficient client ID.
public let errSecInsufficientClientID: OSStatus = -67586
/// Device reset.
public let errSecDeviceReset: OSStatus = -67587
/// The device failed.
public let errSecDeviceFailed: OSStatus = -67588
/// Apple add app ACL subject.
public let errSecAppleAddAppACLSubject: OSStatus = -67589
/// The apple public key is incomplete.
public let errSecApplePublicKeyIncomplete: OSStatus = -67590
/// The apple signature does not match.
public let errSecAppleSignatureMismatch: OSStatus = -67591
/// Apple invalid key start date.
public let errSecAppleInvalidKeyStartDate: OSStatus = -67592
/// Apple invalid key end date.
public let errSecAppleInvalidKeyEndDate: OSStatus = -67593
/// Conversion error.
public let errSecConversionError: OSStatus = -67594
/// Apple SS lv2 rollback.
public let errSecAppleSSLv2Rollback: OSStatus = -67595
/// Quota exceeded.
public let errSecQuotaExceeded: OSStatus = -67596
/// File too big.
public let errSecFileTooBig: OSStatus = -67597
/// The database blob is not valid.
public let errSecInvalidDatabaseBlob: OSStatus = -67598
/// The key blob is not valid.
public let errSecInvalidKeyBlob: OSStatus = -67599
/// Incompatible database blob.
public let errSecIncompatibleDatabaseBlob: OSStatus = -67600
/// Incompatible key blob.
public let errSecIncompatibleKeyBlob: OSStatus = -67601
/// Host name does not match the certificate.
public let errSecHostNameMismatch: OSStatus = -67602
/// The critical extension flag is not known.
public let errSecUnknownCriticalExtensionFlag: OSStatus = -67603
/// There are no basic constraints.
public let errSecNoBasicConstraints: OSStatus = -67604
/// There is no basic constraints CA.
public let errSecNoBasicConstraintsCA: OSStatus = -67605
/// The authority key ID is not valid.
public let errSecInvalidAuthorityKeyID: OSStatus = -67606
/// The subject key ID is not valid.
public let errSecInvalidSubjectKeyID: OSStatus = -67607
/// The key usage for policy is not valid.
public let errSecInvalidKeyUsageForPolicy: OSStatus = -67608
/// The extended key usage is not valid.
public let errSecInvalidExtendedKeyUsage: OSStatus = -67609
/// The ID linkage is not valid.
public let errSecInvalidIDLinkage: OSStatus = -67610
/// Path length constraint exceeded.
public let errSecPathLengthConstraintExceeded: OSStatus = -67611
/// The root is not valid.
public let errSecInvalidRoot: OSStatus = -67612
/// The CRL is expired.
public let errSecCRLExpired: OSStatus = -67613
/// CRL not valid yet.
public let errSecCRLNotValidYet: OSStatus = -67614
/// The CRL was not found.
public let errSecCRLNotFound: OSStatus = -67615
/// CRL server down.
public let errSecCRLServerDown: OSStatus = -67616
/// CRL bad URI.
public let errSecCRLBadURI: OSStatus = -67617
/// The certificate extension is not known.
public let errSecUnknownCertExtension: OSStatus = -67618
/// The CRL extension is not known.
public let errSecUnknownCRLExtension: OSStatus = -67619
/// CRL not trusted.
public let errSecCRLNotTrusted: OSStatus = -67620
/// The CRL policy failed.
public let errSecCRLPolicyFailed: OSStatus = -67621
/// The IDP failed.
public let errSecIDPFailure: OSStatus = -67622
/// The S/MIME email addresses was not found.
public let errSecSMIMEEmailAddressesNotFound: OSStatus = -67623
/// S/MIME bad extended key usage.
public let errSecSMIMEBadExtendedKeyUsage: OSStatus = -67624
/// S/MIME bad key usage.
public let errSecSMIMEBadKeyUsage: OSStatus = -67625
/// S/MIME key usage not critical.
public let errSecSMIMEKeyUsageNotCritical: OSStatus = -67626
/// S/MIME no email address.
public let errSecSMIMENoEmailAddress: OSStatus = -67627
/// S/MIME subj alt name not critical.
public let errSecSMIMESubjAltNameNotCritical: OSStatus = -67628
/// SSL bad extended key usage.
public let errSecSSLBadExtendedKeyUsage: OSStatus = -67629
/// OCSP bad response.
public let errSecOCSPBadResponse: OSStatus = -67630
/// OCSP bad request.
public let errSecOCSPBadRequest: OSStatus = -67631
/// The OCSP is unavailable.
public let errSecOCSPUnavailable: OSStatus = -67632
/// OCSP status unrecognized.
public let errSecOCSPStatusUnrecognized: OSStatus = -67633
/// End of data.
public let errSecEndOfData: OSStatus = -67634
/// Incomplete certificate revocation check.
public let errSecIncompleteCertRevocationCheck: OSStatus = -67635
/// The network failed.
public let errSecNetworkFailure: OSStatus = -67636
/// OCSP not trusted to anchor.
public let errSecOCSPNotTrustedToAnchor: OSStatus = -67637
/// The record is modified.
public let errSecRecordModified: OSStatus = -67638
/// OCSP signature error.
public let errSecOCSPSignatureError: OSStatus = -67639
/// OCSP no signer.
public let errSecOCSPNoSigner: OSStatus = -67640
/// OCSP responder malformed request.
public let errSecOCSPResponderMalformedReq: OSStatus = -67641
/// OCSP responder internal error.
public let errSecOCSPResponderInternalError: OSStatus = -67642
/// OCSP responder try later.
public let errSecOCSPResponderTryLater: OSStatus = -67643
/// OCSP responder signature required.
public let errSecOCSPResponderSignatureRequired: OSStatus = -67644
/// OCSP responder unauthorized.
public let errSecOCSPResponderUnauthorized: OSStatus = -67645
/// The OCSP response nonce does not match.
public let errSecOCSPResponseNonceMismatch: OSStatus = -67646
/// Code signing bad certificate chain length.
public let errSecCodeSigningBadCertChainLength: OSStatus = -67647
/// Code signing no basic constraints.
public let errSecCodeSigningNoBasicConstraints: OSStatus = -67648
/// Code signing bad path length constraint.
public let errSecCodeSigningBadPathLengthConstraint: OSStatus = -67649
/// Code signing no extended key usage.
public let errSecCodeSigningNoExtendedKeyUsage: OSStatus = -67650
/// Code signing development.
public let errSecCodeSigningDevelopment: OSStatus = -67651
/// Resource sign bad certificate chain length.
public let errSecResourceSignBadCertChainLength: OSStatus = -67652
/// Resource sign bad ext key usage.
public let errSecResourceSignBadExtKeyUsage: OSStatus = -67653
/// Trust setting deny.
public let errSecTrustSettingDeny: OSStatus = -67654
/// The subject name is not valid.
public let errSecInvalidSubjectName: OSStatus = -67655
/// The qualified certificate statement is not known.
public let errSecUnknownQualifiedCertStatement: OSStatus = -67656
/// MobileMe request queued.
public let errSecMobileMeRequestQueued: OSStatus = -67657
/// The MobileMe request is redirected.
public let errSecMobileMeRequestRedirected: OSStatus = -67658
/// MobileMe server error.
public let errSecMobileMeServerError: OSStatus = -67659
/// The MobileMe server is not available.
public let errSecMobileMeServerNotAvailable: OSStatus = -67660
/// MobileMe server already exists.
public let errSecMobileMeServerAlreadyExists: OSStatus = -67661
/// MobileMe server service err.
public let errSecMobileMeServerServiceErr: OSStatus = -67662
/// MobileMe request already pending.
public let errSecMobileMeRequestAlreadyPending: OSStatus = -67663
/// MobileMe no request pending.
public let errSecMobileMeNoRequestPending: OSStatus = -67664
/// The MobileMe CSR verify failed.
public let errSecMobileMeCSRVerifyFailure: OSStatus = -67665
/// MobileMe failed consistency check.
public let errSecMobileMeFailedConsistencyCheck: OSStatus = -67666
/// Not initialized.
public let errSecNotInitialized: OSStatus = -67667
/// The handle usage is not valid.
public let errSecInvalidHandleUsage: OSStatus = -67668
/// The PVC referent was not found.
public let errSecPVCReferentNotFound: OSStatus = -67669
/// The function integrity failed.
public let errSecFunctionIntegrityFail: OSStatus = -67670
/// Internal error.
public let errSecInternalError: OSStatus = -67671
/// Memory error.
public let errSecMemoryError: OSStatus = -67672
/// The data is not valid.
public let errSecInvalidData: OSStatus = -67673
/// MDS error.
public let errSecMDSError: OSStatus = -67674
/// The pointer is not valid.
public let errSecInvalidPointer: OSStatus = -67675
/// The self check failed.
public let errSecSelfCheckFailed: OSStatus = -67676
/// The function failed.
public let errSecFunctionFailed: OSStatus = -67677
/// The module manifest verify failed.
public let errSecModuleManifestVerifyFailed: OSStatus = -67678
/// The GUID is not valid.
public let errSecInvalidGUID: OSStatus = -67679
/// The handle is not valid.
public let errSecInvalidHandle: OSStatus = -67680
/// The DB list is not valid.
public let errSecInvalidDBList: OSStatus = -67681
/// The passthrough ID is not valid.
public let errSecInvalidPassthroughID: OSStatus = -67682
/// The network address is not valid.
public let errSecInvalidNetworkAddress: OSStatus = -67683
/// CRL already signed.
public let errSecCRLAlreadySigned: OSStatus = -67684
/// The number of fields are not valid.
public let errSecInvalidNumberOfFields: OSStatus = -67685
/// The verification failed.
public let errSecVerificationFailure: OSStatus = -67686
/// The tag is not known.
public let errSecUnknownTag: OSStatus = -67687
/// The signature is not valid.
public let errSecInvalidSignature: OSStatus = -67688
/// The name is not valid.
public let errSecInvalidName: OSStatus = -67689
/// The certificate reference is not valid.
public let errSecInvalidCertificateRef: OSStatus = -67690
/// The certificate group is not valid.
public let errSecInvalidCertificateGroup: OSStatus = -67691
/// The tag was not found.
public let errSecTagNotFound: OSStatus = -67692
/// The query is not valid.
public let errSecInvalidQuery: OSStatus = -67693
/// The value is not valid.
public let errSecInvalidValue: OSStatus = -67694
/// The callback failed.
public let errSecCallbackFailed: OSStatus = -67695
/// The ACL delete failed.
public let errSecACLDeleteFailed: OSStatus = -67696
/// The ACL replace failed.
public let errSecACLReplaceFailed: OSStatus = -67697
/// The ACL add failed.
public let errSecACLAddFailed: OSStatus = -67698
/// The ACL change failed.
public let errSecACLChangeFailed: OSStatus = -67699
/// The access credentials are not valid.
public let errSecInvalidAccessCredentials: OSStatus = -67700
/// The record is not valid.
public let errSecInvalidRecord: OSStatus = -67701
/// The ACL is not valid.
public let errSecInvalidACL: OSStatus = -67702
/// The sample value is not valid.
public let errSecInvalidSampleValue: OSStatus = -67703
/// Incompatible version.
public let errSecIncompatibleVersion: OSStatus = -67704
/// Privilege not granted.
public let errSecPrivilegeNotGranted: OSStatus = -67705
/// The scope is not valid.
public let errSecInvalidScope: OSStatus = -67706
/// PVC already configured.
public let errSecPVCAlreadyConfigured: OSStatus = -67707
/// The PVC is not valid.
public let errSecInvalidPVC: OSStatus = -67708
/// The EMM load failed.
public let errSecEMMLoadFailed: OSStatus = -67709
/// The EMM unload failed.
public let errSecEMMUnloadFailed: OSStatus = -67710
/// The add-in load failed.
public let errSecAddinLoadFailed: OSStatus = -67711
/// Bad key reference.
public let errSecInvalidKeyRef: OSStatus = -67712
/// The key hierarchy is not valid.
public let errSecInvalidKeyHierarchy: OSStatus = -67713
/// The add-in unload failed.
public let errSecAddinUnloadFailed: OSStatus = -67714
/// The library reference was not found.
public let errSecLibraryReferenceNotFound: OSStatus = -67715
/// The add-in function table is not valid.
public let errSecInvalidAddinFunctionTable: OSStatus = -67716
/// The service mask is not valid.
public let errSecInvalidServiceMask: OSStatus = -67717
/// Module not loaded.
public let errSecModuleNotLoaded: OSStatus = -67718
/// The sub service ID is not valid.
public let errSecInvalidSubServiceID: OSStatus = -67719
/// Attribute not in context.
public let errSecAttributeNotInContext: OSStatus = -67720
/// The module manager initialize failed.
public let errSecModuleManagerInitializeFailed: OSStatus = -67721
/// The module manager was not found.
public let errSecModuleManagerNotFound: OSStatus = -67722
/// The event notification callback was not found.
public let errSecEventNotificationCallbackNotFound: OSStatus = -67723
/// Input length error.
public let errSecInputLengthError: OSStatus = -67724
/// Output length error.
public let errSecOutputLengthError: OSStatus = -67725
/// The privilege is not supported.
public let errSecPrivilegeNotSupported: OSStatus = -67726
/// Device error.
public let errSecDeviceError: OSStatus = -67727
/// The attach handle is busy.
public let errSecAttachHandleBusy: OSStatus = -67728
/// Not logged in.
public let errSecNotLoggedIn: OSStatus = -67729
/// The algorithm does not match.
public let errSecAlgorithmMismatch: OSStatus = -67730
/// Key usage incorrect.
public let errSecKeyUsageIncorrect: OSStatus = -67731
/// Key blob type incorrect.
public let errSecKeyBlobTypeIncorrect: OSStatus = -67732
/// Key header inconsistent.
public let errSecKeyHeaderInconsistent: OSStatus = -67733
/// The key format is not supported.
public let errSecUnsupportedKeyFormat: OSStatus = -67734
/// The key size is not supported.
public let errSecUnsupportedKeySize: OSStatus = -67735
/// The key usage mask is not valid.
public let errSecInvalidKeyUsageMask: OSStatus = -67736
/// The key usage mask is not supported.
public let errSecUnsupportedKeyUsageMask: OSStatus = -67737
/// The key attribute mask is not valid.
public let errSecInvalidKeyAttributeMask: OSStatus = -67738
/// The key attribute mask is not supported.
public let errSecUnsupportedKeyAttributeMask: OSStatus = -67739
/// The key label is not valid.
public let errSecInvalidKeyLabel: OSStatus = -67740
/// The key label is not supported.
public let errSecUnsupportedKeyLabel: OSStatus = -67741
/// The key format is not valid.
public let errSecInvalidKeyFormat: OSStatus = -67742
/// The vector of buffers are not supported.
public let errSecUnsupportedVectorOfBuffers: OSStatus = -67743
/// The input vector is not valid.
public let errSecInvalidInputVector: OSStatus = -67744
/// The output vector is not valid.
public let errSecInvalidOutputVector: OSStatus = -67745
/// The context is not valid.
public let errSecInvalidContext: OSStatus = -67746
/// The algorithm is not valid.
public let errSecInvalidAlgorithm: OSStatus = -67747
/// The attribute key is not valid.
public let errSecInvalidAttributeKey: OSStatus = -67748
/// The attribute key is missing.
public let errSecMissingAttributeKey: OSStatus = -67749
/// The attribute initialisation vector is not valid.
public let errSecInvalidAttributeInitVector: OSStatus = -67750
/// The attribute initialisation vector is missing.
public let errSecMissingAttributeInitVector: OSStatus = -67751
/// The attribute salt is not valid.
public let errSecInvalidAttributeSalt: OSStatus = -67752
/// The attribute salt is missing.
public let errSecMissingAttributeSalt: OSStatus = -67753
/// The attribute padding is not valid.
public let errSecInvalidAttributePadding: OSStatus = -67754
/// The attribute padding is missing.
public let errSecMissingAttributePadding: OSStatus = -67755
/// The attribute random is not valid.
public let errSecInvalidAttributeRandom: OSStatus = -67756
/// The attribute random is missing.
public let errSecMissingAttributeRandom: OSStatus = -67757
/// The attribute seed is not valid.
public let errSecInvalidAttributeSeed: OSStatus = -67758
/// The attribute seed is missing.
public let errSecMissingAttributeSeed: OSStatus = -67759
/// The attribute passphrase is not valid.
public let errSecInvalidAttributePassphrase: OSStatus = -67760
/// The attribute passphrase is missing.
public let errSecMissingAttributePassphrase: OSStatus = -67761
/// The attribute key length is not valid.
public let errSecInvalidAttributeKeyLength: OSStatus = -67762
/// The attribute key length is missing.
public let errSecMissingAttributeKeyLength: OSStatus = -67763
/// The attribute block size is not valid.
public let errSecInvalidAttributeBlockSize: OSStatus = -67764
/// The attribute block size is missing.
public let errSecMissingAttributeBlockSize: OSStatus = -67765
/// The attribute output size is not valid.
public let errSecInvalidAttributeOutputSize: OSStatus = -67766
/// The attribute output size is missing.
public let errSecMissingAttributeOutputSize: OSStatus = -67767
/// The attribute rounds are not valid.
public let errSecInvalidAttributeRounds: OSStatus = -67768
/// The attribute rounds are missing.
public let errSecMissingAttributeRounds: OSStatus = -67769
/// The algorithm parameters are not valid.
public let errSecInvalidAlgorithmParms: OSStatus = -67770
/// The algorithm parameters are missing.
public let errSecMissingAlgorithmParms: OSStatus = -67771
/// The attribute label is not valid.
public let errSecInvalidAttributeLabel: OSStatus = -67772
/// The attribute label is missing.
public let errSecMissingAttributeLabel: OSStatus = -67773
/// The attribute key type is not valid.
public let errSecInvalidAttributeKeyType: OSStatus = -67774
/// The attribute key type is missing.
public let errSecMissingAttributeKeyType: OSStatus = -67775
/// The attribute mode is not valid.
public let errSecInvalidAttributeMode: OSStatus = -67776
/// The attribute mode is missing.
public let errSecMissingAttributeMode: OSStatus = -67777
/// The attribute effective bits are not valid.
public let errSecInvalidAttributeEffectiveBits: OSStatus = -67778
/// The attribute effective bits are missing.
public let errSecMissingAttributeEffectiveBits: OSStatus = -67779
/// The attribute start date is not valid.
public let errSecInvalidAttributeStartDate: OSStatus = -67780
/// The attribute start date is missing.
public let errSecMissingAttributeStartDate: OSStatus = -67781
/// The attribute end date is not valid.
public let errSecInvalidAttributeEndDate: OSStatus = -67782
/// The attribute end date is missing.
public let errSecMissingAttributeEndDate: OSStatus = -67783
/// The attribute version is not valid.
public let errSecInvalidAttributeVersion: OSStatus = -67784
/// The attribute version is missing.
public let errSecMissingAttributeVersion: OSStatus = -67785
/// The attribute prime is not valid.
public let errSecInvalidAttributePrime: OSStatus = -67786
/// The attribute prime is missing.
public let errSecMissingAttributePrime: OSStatus = -67787
/// The attribute base is not valid.
public let errSecInvalidAttributeBase: OSStatus = -67788
/// The attribute base is missing.
public let errSecMissingAttributeBase: OSStatus = -67789
/// The attribute subprime is not valid.
public let errSecInvalidAttributeSubprime: OSStatus = -67790
/// The attribute subprime is missing.
public let errSecMissingAttributeSubprime: OSStatus = -67791
/// The attribute iteration count is not valid.
public let errSecInvalidAttributeIterationCount: OSStatus = -67792
/// The attribute iteration count is missing.
public let errSecMissingAttributeIterationCount: OSStatus = -67793
/// The attribute DLDB handle is not valid.
public let errSecInvalidAttributeDLDBHandle: OSStatus = -67794
/// The attribute DLDB handle is missing.
public let errSecMissingAttributeDLDBHandle: OSStatus = -67795
/// The attribute access credentials are not valid.
public let errSecInvalidAttributeAccessCredentials: OSStatus = -67796
/// The attribute access credentials are missing.
public let errSecMissingAttributeAccessCredentials: OSStatus = -67797
/// The attribute public key format is not valid.
public let errSecInvalidAttributePublicKeyFormat: OSStatus = -67798
/// The attribute public key format is missing.
public let errSecMissingAttributePublicKeyFormat: OSStatus = -67799
/// The attribute private key format is not valid.
public let errSecInvalidAttributePrivateKeyFormat: OSStatus = -67800
/// The attribute private key format is missing.
public let errSecMissingAttributePrivateKeyFormat: OSStatus = -67801
/// The attribute symmetric key format is not valid.
public let errSecInvalidAttributeSymmetricKeyFormat: OSStatus = -67802
/// The attribute symmetric key format is missing.
public let errSecMissingAttributeSymmetricKeyFormat: OSStatus = -67803
/// The attribute wrapped key format is not valid.
public let errSecInvalidAttributeWrappedKeyFormat: OSStatus = -67804
/// The attribute wrapped key format is missing.
public let errSecMissingAttributeWrappedKeyFormat: OSStatus = -67805
/// Staged operation in progress.
public let errSecStagedOperationInProgress: OSStatus = -67806
/// Staged operation not started.
public let errSecStagedOperationNotStarted: OSStatus = -67807
/// Signature or MAC check failed.
public let errSecVerifyFailed: OSStatus = -67808
/// Query size unknown.
public let errSecQuerySizeUnknown: OSStatus = -67809
/// The block size does not match.
public let errSecBlockSizeMismatch: OSStatus = -67810
/// Public key inconsistent.
public let errSecPublicKeyInconsistent: OSStatus = -67811
/// The device verify failed.
public let errSecDeviceVerifyFailed: OSStatus = -67812
/// The login name is not valid.
public let errSecInvalidLoginName: OSStatus = -67813
/// Already logged in.
public let errSecAlreadyLoggedIn: OSStatus = -67814
/// The digest algorithm is not valid.
public let errSecInvalidDigestAlgorithm: OSStatus = -67815
/// The CRL group is not valid.
public let errSecInvalidCRLGroup: OSStatus = -67816
/// Certificate cannot operate.
public let errSecCertificateCannotOperate: OSStatus = -67817
/// Certificate expired.
public let errSecCertificateExpired: OSStatus = -67818
/// Certificate not valid yet.
public let errSecCertificateNotValidYet: OSStatus = -67819
/// Certificate revoked.
public let errSecCertificateRevoked: OSStatus = -67820
/// Certificate suspended.
public let errSecCertificateSuspended: OSStatus = -67821
/// Insufficient credentials.
public let errSecInsufficientCredentials: OSStatus = -67822
/// The action is not valid.
public let errSecInvalidAction: OSStatus = -67823
/// The authority is not valid.
public let errSecInvalidAuthority: OSStatus = -67824
/// The verify action failed.
public let errSecVerifyActionFailed: OSStatus = -67825
/// The certificate authority is not valid.
public let errSecInvalidCertAuthority: OSStatus = -67826
/// Misspelt or old name of `errSecInvalidCRLAuthority`.
@available(*, deprecated, renamed: "errSecInvalidCRLAuthority")
public let errSecInvaldCRLAuthority: OSStatus = -67827
/// The CRL authority is not valid.
public let errSecInvalidCRLAuthority: OSStatus = -67827
/// The CRL encoding is not valid.
public let errSecInvalidCRLEncoding: OSStatus = -67828
/// The CRL type is not valid.
public let errSecInvalidCRLType: OSStatus = -67829
/// The CRL is not valid.
public let errSecInvalidCRL: OSStatus = -67830
/// The form type is not valid.
public let errSecInvalidFormType: OSStatus = -67831
/// The ID is not valid.
public let errSecInvalidID: OSStatus = -67832
/// The identifier is not valid.
public let errSecInvalidIdentifier: OSStatus = -67833
/// The index is not valid.
public let errSecInvalidIndex: OSStatus = -67834
/// The policy identifiers are not valid.
public let errSecInvalidPolicyIdentifiers: OSStatus = -67835
/// The time string is not valid.
public let errSecInvalidTimeString: OSStatus = -67836
/// The reason is not valid.
public let errSecInvalidReason: OSStatus = -67837
/// The request inputs are not valid.
public let errSecInvalidRequestInputs: OSStatus = -67838
/// The response vector is not valid.
public let errSecInvalidResponseVector: OSStatus = -67839
/// The stop on policy is not valid.
public let errSecInvalidStopOnPolicy: OSStatus = -67840
/// The tuple is not valid.
public let errSecInvalidTuple: OSStatus = -67841
/// The multiple values is unsupported.
public let errSecMultipleValuesUnsupported: OSStatus = -67842
/// Certificate not trusted.
public let errSecNotTrusted: OSStatus = -67843
/// There is no default authority.
public let errSecNoDefaultAuthority: OSStatus = -67844
/// Rejected form.
public let errSecRejectedForm: OSStatus = -67845
/// The request is lost.
public let errSecRequestLost: OSStatus = -67846
/// The request is rejected.
public let errSecRequestRejected: OSStatus = -67847
/// The address type is not supported.
public let errSecUnsupportedAddressType: OSStatus = -67848
/// The service is not supported.
public let errSecUnsupportedService: OSStatus = -67849
/// The tuple group is not valid.
public let errSecInvalidTupleGroup: OSStatus = -67850
/// The base AC ls are not valid.
public let errSecInvalidBaseACLs: OSStatus = -67851
/// Misspelt or old name of `errSecInvalidTupleCredentials`.
@available(*, deprecated, renamed: "errSecInvalidTupleCredentials")
public let errSecInvalidTupleCredendtials: OSStatus = -67852
/// The tuple credentials are not valid.
public let errSecInvalidTupleCredentials: OSStatus = -67852
/// The encoding is not valid.
public let errSecInvalidEncoding: OSStatus = -67853
/// The validity period is not valid.
public let errSecInvalidValidityPeriod: OSStatus = -67854
/// The requestor is not valid.
public let errSecInvalidRequestor: OSStatus = -67855
/// Request descriptor.
public let errSecRequestDescriptor: OSStatus = -67856
/// The bundle information is not valid.
public let errSecInvalidBundleInfo: OSStatus = -67857
/// The CRL index is not valid.
public let errSecInvalidCRLIndex: OSStatus = -67858
/// There are no field values.
public let errSecNoFieldValues: OSStatus = -67859
/// The field format is not supported.
public let errSecUnsupportedFieldFormat: OSStatus = -67860
/// The index information is not supported.
public let errSecUnsupportedIndexInfo: OSStatus = -67861
/// The locality is not supported.
public let errSecUnsupportedLocality: OSStatus = -67862
/// The num attributes are not supported.
public let errSecUnsupportedNumAttributes: OSStatus = -67863
/// The num indexes are not supported.
public let errSecUnsupportedNumIndexes: OSStatus = -67864
/// The num record types are not supported.
public let errSecUnsupportedNumRecordTypes: OSStatus = -67865
/// Field specified multiple.
public let errSecFieldSpecifiedMultiple: OSStatus = -67866
/// Incompatible field format.
public let errSecIncompatibleFieldFormat: OSStatus = -67867
/// The parsing module is not valid.
public let errSecInvalidParsingModule: OSStatus = -67868
/// Database locked.
public let errSecDatabaseLocked: OSStatus = -67869
/// Datastore is open.
public let errSecDatastoreIsOpen: OSStatus = -67870
/// The value is missing.
public let errSecMissingValue: OSStatus = -67871
/// The query limits are not supported.
public let errSecUnsupportedQueryLimits: OSStatus = -67872
/// The num selection preds are not supported.
public let errSecUnsupportedNumSelectionPreds: OSStatus = -67873
/// The operator is not supported.
public let errSecUnsupportedOperator: OSStatus = -67874
/// The DB location is not valid.
public let errSecInvalidDBLocation: OSStatus = -67875
/// The access request is not valid.
public let errSecInvalidAccessRequest: OSStatus = -67876
/// The index information is not valid.
public let errSecInvalidIndexInfo: OSStatus = -67877
/// The new owner is not valid.
public let errSecInvalidNewOwner: OSStatus = -67878
/// The modify mode is not valid.
public let errSecInvalidModifyMode: OSStatus = -67879
/// The required extension is missing.
public let errSecMissingRequiredExtension: OSStatus = -67880
/// Extended key usage not critical.
public let errSecExtendedKeyUsageNotCritical: OSStatus = -67881
/// The timestamp is missing.
public let errSecTimestampMissing: OSStatus = -67882
/// The timestamp is invalid.
public let errSecTimestampInvalid: OSStatus = -67883
/// Timestamp not trusted.
public let errSecTimestampNotTrusted: OSStatus = -67884
/// The timestamp service is not available.
public let errSecTimestampServiceNotAvailable: OSStatus = -67885
/// Timestamp bad algorithm.
public let errSecTimestampBadAlg: OSStatus = -67886
/// Timestamp bad request.
public let errSecTimestampBadRequest: OSStatus = -67887
/// Timestamp bad data format.
public let errSecTimestampBadDataFormat: OSStatus = -67888
/// The timestamp time is not available.
public let errSecTimestampTimeNotAvailable: OSStatus = -67889
/// Timestamp unaccepted policy.
public let errSecTimestampUnacceptedPolicy: OSStatus = -67890
/// Timestamp unaccepted extension.
public let errSecTimestampUnacceptedExtension: OSStatus = -67891
/// The timestamp add information is not available.
public let errSecTimestampAddInfoNotAvailable: OSStatus = -67892
/// The timestamp system failed.
public let errSecTimestampSystemFailure: OSStatus = -67893
/// The signing time is missing.
public let errSecSigningTimeMissing: OSStatus = -67894
/// Timestamp rejection.
public let errSecTimestampRejection: OSStatus = -67895
/// Timestamp waiting.
public let errSecTimestampWaiting: OSStatus = -67896
/// Timestamp revocation warning.
public let errSecTimestampRevocationWarning: OSStatus = -67897
/// Timestamp revocation notification.
public let errSecTimestampRevocationNotification: OSStatus = -67898
/// Certificate policy not allowed.
public let errSecCertificatePolicyNotAllowed: OSStatus = -67899
/// Certificate name not allowed.
public let errSecCertificateNameNotAllowed: OSStatus = -67900
/// Certificate validity period too long.
public let errSecCertificateValidityPeriodTooLong: OSStatus = -67901
/// Certificate is CA.
public let errSecCertificateIsCA: OSStatus = -67902
/// Certificate duplicate extension.
public let errSecCertificateDuplicateExtension: OSStatus = -67903
/// The qualified certificate statement is missing.
public let errSecMissingQualifiedCertStatement: OSStatus = -67904
