// SPDX-License-Identifier: Apache-2.0

import Security
import Testing

/// Every constant has Apple's name and value, and no other constant is public.
@Suite struct SecurityConstantTests {
    // The strings are immutable, which the compiler cannot see because their type is NSString.
    nonisolated(unsafe) private static let constants: [(String, CFString)] = [
        ("kSecAttrAccessControl", kSecAttrAccessControl),
        ("kSecAttrAccessGroup", kSecAttrAccessGroup),
        ("kSecAttrAccessGroupToken", kSecAttrAccessGroupToken),
        ("kSecAttrAccessible", kSecAttrAccessible),
        ("kSecAttrAccount", kSecAttrAccount),
        ("kSecAttrComment", kSecAttrComment),
        ("kSecAttrCreationDate", kSecAttrCreationDate),
        ("kSecAttrCreator", kSecAttrCreator),
        ("kSecAttrDescription", kSecAttrDescription),
        ("kSecAttrGeneric", kSecAttrGeneric),
        ("kSecAttrIsInvisible", kSecAttrIsInvisible),
        ("kSecAttrIsNegative", kSecAttrIsNegative),
        ("kSecAttrLabel", kSecAttrLabel),
        ("kSecAttrModificationDate", kSecAttrModificationDate),
        ("kSecAttrService", kSecAttrService),
        ("kSecAttrSynchronizable", kSecAttrSynchronizable),
        ("kSecAttrSynchronizableAny", kSecAttrSynchronizableAny),
        ("kSecAttrType", kSecAttrType),
        ("kSecClass", kSecClass),
        ("kSecClassGenericPassword", kSecClassGenericPassword),
        ("kSecMatchLimit", kSecMatchLimit),
        ("kSecMatchLimitAll", kSecMatchLimitAll),
        ("kSecMatchLimitOne", kSecMatchLimitOne),
        ("kSecReturnAttributes", kSecReturnAttributes),
        ("kSecReturnData", kSecReturnData),
        ("kSecReturnPersistentRef", kSecReturnPersistentRef),
        ("kSecReturnRef", kSecReturnRef),
        ("kSecUseAuthenticationContext", kSecUseAuthenticationContext),
        ("kSecUseAuthenticationUI", kSecUseAuthenticationUI),
        ("kSecUseAuthenticationUIAllow", deprecated.kSecUseAuthenticationUIAllow),
        ("kSecUseAuthenticationUIFail", deprecated.kSecUseAuthenticationUIFail),
        ("kSecUseAuthenticationUISkip", kSecUseAuthenticationUISkip),
        ("kSecUseDataProtectionKeychain", kSecUseDataProtectionKeychain),
        ("kSecUseNoAuthenticationUI", deprecated.kSecUseNoAuthenticationUI),
        ("kSecUseItemList", deprecated.kSecUseItemList),
        ("kSecUseOperationPrompt", deprecated.kSecUseOperationPrompt),
        ("kSecValueData", kSecValueData),
        ("kSecValuePersistentRef", kSecValuePersistentRef),
        ("kSecValueRef", kSecValueRef),
        // Internet passwords.
        ("kSecAttrServer", kSecAttrServer),
        ("kSecAttrSecurityDomain", kSecAttrSecurityDomain),
        ("kSecAttrProtocol", kSecAttrProtocol),
        ("kSecAttrAuthenticationType", kSecAttrAuthenticationType),
        ("kSecAttrPort", kSecAttrPort),
        ("kSecAttrPath", kSecAttrPath),
        ("kSecAttrProtocolAFP", kSecAttrProtocolAFP),
        ("kSecAttrProtocolAppleTalk", kSecAttrProtocolAppleTalk),
        ("kSecAttrProtocolDAAP", kSecAttrProtocolDAAP),
        ("kSecAttrProtocolEPPC", kSecAttrProtocolEPPC),
        ("kSecAttrProtocolFTP", kSecAttrProtocolFTP),
        ("kSecAttrProtocolFTPAccount", kSecAttrProtocolFTPAccount),
        ("kSecAttrProtocolFTPProxy", kSecAttrProtocolFTPProxy),
        ("kSecAttrProtocolFTPS", kSecAttrProtocolFTPS),
        ("kSecAttrProtocolHTTP", kSecAttrProtocolHTTP),
        ("kSecAttrProtocolHTTPProxy", kSecAttrProtocolHTTPProxy),
        ("kSecAttrProtocolHTTPS", kSecAttrProtocolHTTPS),
        ("kSecAttrProtocolHTTPSProxy", kSecAttrProtocolHTTPSProxy),
        ("kSecAttrProtocolIMAP", kSecAttrProtocolIMAP),
        ("kSecAttrProtocolIMAPS", kSecAttrProtocolIMAPS),
        ("kSecAttrProtocolIPP", kSecAttrProtocolIPP),
        ("kSecAttrProtocolIRC", kSecAttrProtocolIRC),
        ("kSecAttrProtocolIRCS", kSecAttrProtocolIRCS),
        ("kSecAttrProtocolLDAP", kSecAttrProtocolLDAP),
        ("kSecAttrProtocolLDAPS", kSecAttrProtocolLDAPS),
        ("kSecAttrProtocolNNTP", kSecAttrProtocolNNTP),
        ("kSecAttrProtocolNNTPS", kSecAttrProtocolNNTPS),
        ("kSecAttrProtocolPOP3", kSecAttrProtocolPOP3),
        ("kSecAttrProtocolPOP3S", kSecAttrProtocolPOP3S),
        ("kSecAttrProtocolRTSP", kSecAttrProtocolRTSP),
        ("kSecAttrProtocolRTSPProxy", kSecAttrProtocolRTSPProxy),
        ("kSecAttrProtocolSMB", kSecAttrProtocolSMB),
        ("kSecAttrProtocolSMTP", kSecAttrProtocolSMTP),
        ("kSecAttrProtocolSOCKS", kSecAttrProtocolSOCKS),
        ("kSecAttrProtocolSSH", kSecAttrProtocolSSH),
        ("kSecAttrProtocolTelnet", kSecAttrProtocolTelnet),
        ("kSecAttrProtocolTelnetS", kSecAttrProtocolTelnetS),
        ("kSecAttrAuthenticationTypeDPA", kSecAttrAuthenticationTypeDPA),
        ("kSecAttrAuthenticationTypeDefault", kSecAttrAuthenticationTypeDefault),
        ("kSecAttrAuthenticationTypeHTMLForm", kSecAttrAuthenticationTypeHTMLForm),
        ("kSecAttrAuthenticationTypeHTTPBasic", kSecAttrAuthenticationTypeHTTPBasic),
        ("kSecAttrAuthenticationTypeHTTPDigest", kSecAttrAuthenticationTypeHTTPDigest),
        ("kSecAttrAuthenticationTypeMSN", kSecAttrAuthenticationTypeMSN),
        ("kSecAttrAuthenticationTypeNTLM", kSecAttrAuthenticationTypeNTLM),
        ("kSecAttrAuthenticationTypeRPA", kSecAttrAuthenticationTypeRPA),
        ("kSecClassInternetPassword", kSecClassInternetPassword),
        ("kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly", kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly),
        ("kSecAttrAccessibleWhenUnlocked", kSecAttrAccessibleWhenUnlocked),
        ("kSecAttrAccessibleWhenUnlockedThisDeviceOnly", kSecAttrAccessibleWhenUnlockedThisDeviceOnly),
        ("kSecAttrAccessibleAfterFirstUnlock", kSecAttrAccessibleAfterFirstUnlock),
        ("kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly", kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly),
        ("kSecAttrAccessibleAlways", deprecated.kSecAttrAccessibleAlways),
        ("kSecAttrAccessibleAlwaysThisDeviceOnly", deprecated.kSecAttrAccessibleAlwaysThisDeviceOnly),
        // Keys.
        ("kSecAttrApplicationLabel", kSecAttrApplicationLabel),
        ("kSecAttrApplicationTag", kSecAttrApplicationTag),
        ("kSecAttrCanDecrypt", kSecAttrCanDecrypt),
        ("kSecAttrCanDerive", kSecAttrCanDerive),
        ("kSecAttrCanEncrypt", kSecAttrCanEncrypt),
        ("kSecAttrCanSign", kSecAttrCanSign),
        ("kSecAttrCanUnwrap", kSecAttrCanUnwrap),
        ("kSecAttrCanVerify", kSecAttrCanVerify),
        ("kSecAttrCanWrap", kSecAttrCanWrap),
        ("kSecAttrEffectiveKeySize", kSecAttrEffectiveKeySize),
        ("kSecAttrIsExtractable", kSecAttrIsExtractable),
        ("kSecAttrIsPermanent", kSecAttrIsPermanent),
        ("kSecAttrIsSensitive", kSecAttrIsSensitive),
        ("kSecAttrKeyClass", kSecAttrKeyClass),
        ("kSecAttrKeyClassPrivate", kSecAttrKeyClassPrivate),
        ("kSecAttrKeyClassPublic", kSecAttrKeyClassPublic),
        ("kSecAttrKeyClassSymmetric", kSecAttrKeyClassSymmetric),
        ("kSecAttrKeySizeInBits", kSecAttrKeySizeInBits),
        ("kSecAttrKeyType", kSecAttrKeyType),
        ("kSecAttrKeyTypeEC", kSecAttrKeyTypeEC),
        ("kSecAttrKeyTypeECDSA", kSecAttrKeyTypeECDSA),
        ("kSecAttrKeyTypeECSECPrimeRandom", kSecAttrKeyTypeECSECPrimeRandom),
        ("kSecAttrKeyTypeRSA", kSecAttrKeyTypeRSA),
        ("kSecAttrKeyType3DES", kSecAttrKeyType3DES),
        ("kSecAttrKeyTypeAES", kSecAttrKeyTypeAES),
        ("kSecAttrKeyTypeCAST", kSecAttrKeyTypeCAST),
        ("kSecAttrKeyTypeDES", kSecAttrKeyTypeDES),
        ("kSecAttrKeyTypeDSA", kSecAttrKeyTypeDSA),
        ("kSecAttrKeyTypeRC2", kSecAttrKeyTypeRC2),
        ("kSecAttrKeyTypeRC4", kSecAttrKeyTypeRC4),
        ("kSecAttrTokenID", kSecAttrTokenID),
        ("kSecAttrTokenIDSecureEnclave", kSecAttrTokenIDSecureEnclave),
        ("kSecClassKey", kSecClassKey),
        ("kSecPrivateKeyAttrs", kSecPrivateKeyAttrs),
        ("kSecPublicKeyAttrs", kSecPublicKeyAttrs),
        // Certificates, identities and PKCS#12.
        ("kSecClassCertificate", kSecClassCertificate),
        ("kSecClassIdentity", kSecClassIdentity),
        ("kSecAttrCertificateType", kSecAttrCertificateType),
        ("kSecAttrCertificateEncoding", kSecAttrCertificateEncoding),
        ("kSecAttrSubject", kSecAttrSubject),
        ("kSecAttrIssuer", kSecAttrIssuer),
        ("kSecAttrSerialNumber", kSecAttrSerialNumber),
        ("kSecAttrSubjectKeyID", kSecAttrSubjectKeyID),
        ("kSecAttrPublicKeyHash", kSecAttrPublicKeyHash),
        ("kSecMatchItemList", kSecMatchItemList),
        ("kSecMatchIssuers", kSecMatchIssuers),
        ("kSecMatchEmailAddressIfPresent", kSecMatchEmailAddressIfPresent),
        ("kSecMatchSubjectContains", kSecMatchSubjectContains),
        ("kSecMatchSubjectStartsWith", kSecMatchSubjectStartsWith),
        ("kSecMatchSubjectEndsWith", kSecMatchSubjectEndsWith),
        ("kSecMatchSubjectWholeString", kSecMatchSubjectWholeString),
        ("kSecMatchCaseInsensitive", kSecMatchCaseInsensitive),
        ("kSecMatchDiacriticInsensitive", kSecMatchDiacriticInsensitive),
        ("kSecMatchWidthInsensitive", kSecMatchWidthInsensitive),
        ("kSecMatchTrustedOnly", kSecMatchTrustedOnly),
        ("kSecMatchValidOnDate", kSecMatchValidOnDate),
        ("kSecImportExportPassphrase", kSecImportExportPassphrase),
        ("kSecImportToMemoryOnly", kSecImportToMemoryOnly),
        ("kSecImportItemLabel", kSecImportItemLabel),
        ("kSecImportItemKeyID", kSecImportItemKeyID),
        ("kSecImportItemCertChain", kSecImportItemCertChain),
        ("kSecImportItemIdentity", kSecImportItemIdentity),
        ("kSecMatchPolicy", kSecMatchPolicy),
        ("kSecImportItemTrust", kSecImportItemTrust),
        ("kSecAttrSyncViewHint", kSecAttrSyncViewHint),
        ("kSecAttrPersistentReference", kSecAttrPersistentReference),
    ]

    @Test func everyConstantHasApplesValue() throws {
        let values = try Table("security.tsv").values("constant")
        for (name, constant) in Self.constants { #expect(values[name] == constant as String, "\(name)") }
        #expect(Set(Self.constants.map(\.0)) == Set(values.keys))
        // Only values of different attributes may be equal strings: HTTP is a protocol and an authentication type, a
        // key's type is stored in the attribute of a password's type, and one key type has three names.
        let alike: Set = [
            "kSecAttrAuthenticationTypeHTTPBasic", "kSecAttrKeyType", "kSecAttrKeyTypeEC", "kSecAttrKeyTypeECDSA",
        ]
        let apart = Self.constants.filter { !alike.contains($0.0) }
        #expect(Set(apart.map { $0.1 as String }).count == apart.count, "all values differ")
    }

    @Test func everyErrorCodeHasApplesValue() throws {
        let values = try Table("security.tsv").values("error")
        for (name, code) in errorCodes { #expect(values[name] == String(code), "\(name)") }
        // Deprecated names are declared too, but using them here would be a compiler warning.
        let old: Set = ["errSecDskFull", "errSecInvaldCRLAuthority", "errSecInvalidTupleCredendtials"]
        #expect(Set(errorCodes.map(\.0)) == Set(values.keys).subtracting(old))
    }

    @Test func everyDeclaredConstantIsInTheTable() throws {
        let table = try Table("security.tsv")
        let declared = try Table.declared(in: "Security", prefix: "kSec")
        #expect(declared.subtracting(table.values("constant").keys) == ["kSecRandomDefault"])
        #expect(try Table.declared(in: "Security", prefix: "errSec") == Set(table.values("error").keys))
    }

    @Test func constantsBridgeToEveryStringType() {
        let bare: CFString = kSecClass
        let bridged = kSecClass as String
        let type: CFTypeRef = kSecAttrAccessibleWhenUnlocked
        #expect(bare as String == "class")
        #expect(bridged == "class")
        #expect(type as? String == "ak")
        #expect(String(kSecClass) == "class")
        #expect(kSecClass == "class")
        #expect(CFGetTypeID(bare) == CFStringGetTypeID())
    }

    @Test func noErrIsSuccess() {
        #expect(noErr == errSecSuccess)
        #expect(type(of: noErr) == OSStatus.self)
    }
}
