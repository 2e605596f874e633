// SPDX-License-Identifier: Apache-2.0

/// The class of a keychain item. Raw values are part of the wire format and of the store format.
///
/// `kSecClassIdentity` has no case: an identity is not stored; the client library combines a certificate and its
/// private key.
package enum ItemClass: UInt8, CaseIterable, Sendable {
    /// `kSecClassGenericPassword`.
    case genericPassword = 1
    /// `kSecClassInternetPassword`.
    case internetPassword = 2
    /// `kSecClassKey`.
    case key = 3
    /// `kSecClassCertificate`.
    case certificate = 4
    /// An item of the Secret Service, a collection of it, or a stored answer; without a name in Apple's API.
    case secret = 5

    /// The attributes whose values together identify an item of this class, in the order in which the blind index
    /// covers them.
    package var primaryKey: [AttributeCode] {
        switch self {
        case .genericPassword: [.accessGroup, .account, .service, .synchronizable]
        case .internetPassword:
            [
                .accessGroup, .account, .securityDomain, .server, .networkProtocol, .authenticationType, .port, .path,
                .synchronizable,
            ]
        case .key:
            [
                .accessGroup, .applicationLabel, .applicationTag, .effectiveKeySize, .keyClass, .keySizeInBits,
                .keyType, .synchronizable,
            ]
        case .certificate: [.accessGroup, .certificateType, .issuer, .serialNumber, .synchronizable]
        case .secret: [.accessGroup, .collection, .identifier, .synchronizable]
        }
    }

    /// The attributes that each have their own blind index, in addition to the access group.
    package var indexed: [AttributeCode] {
        switch self {
        case .genericPassword: [.account, .service, .label]
        case .internetPassword: [.account, .server, .label]
        case .key: [.applicationLabel, .applicationTag, .label]
        case .certificate: [.publicKeyHash, .subject, .label]
        case .secret: [.identifier, .owner, .collection]
        }
    }

    /// Returns whether items of this class can have the attribute.
    package func has(_ code: AttributeCode) -> Bool {
        switch code {
        case .accessGroup, .synchronizable, .creationDate, .modificationDate, .label: true
        case .account, .itemDescription, .comment, .creator, .type, .isInvisible, .isNegative:
            self == .genericPassword || self == .internetPassword
        case .service, .generic: self == .genericPassword
        case .server, .securityDomain, .networkProtocol, .authenticationType, .port, .path: self == .internetPassword
        case .keyClass, .applicationLabel, .applicationTag, .keyType, .keySizeInBits, .effectiveKeySize,
            .isPermanent, .canEncrypt, .canDecrypt, .canDerive, .canSign, .canVerify, .canWrap, .canUnwrap,
            .tokenID, .publicKey:
            self == .key
        case .certificateType, .certificateEncoding, .subject, .issuer, .serialNumber, .subjectKeyID,
            .publicKeyHash:
            self == .certificate
        case .collection, .identifier, .contentType, .pairs, .owner: self == .secret
        }
    }

    /// Returns the value that a primary-key attribute has in comparisons when it is absent.
    package static func emptyValue(_ code: AttributeCode) -> AttributeValue {
        switch code.kind {
        case .text: .text("")
        case .data: .data([])
        case .number: .number(0)
        case .boolean: .boolean(false)
        case .date: .date(0)
        }
    }
}
