// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyCertificates
import LatchkeyCrypto
import LatchkeyModel

/// A new item, described by an object or an app's dictionary and not yet stored.
struct NewItem {
    var itemClass: ItemClass
    var attributes: Attributes
    var secret: SecretBytes?
    var accessControl: AccessControl?

    /// Creates an item from an app's dictionary.
    init(_ query: ParsedQuery, _ itemClass: ItemClass) throws(Failure) {
        self.itemClass = itemClass
        attributes = query.attributes
        secret = query.secret
        accessControl = query.effectiveAccessControl
        switch itemClass {
        case .genericPassword, .internetPassword, .secret: break
        case .key:
            let key = secret.flatMap { SecKey(stored: attributes, $0) }
            // Behaviour SK-10: the data must be a key of the given type and class. Symmetric keys and other key types
            // have no SecKey and are stored without this check.
            guard key != nil || !query.returns.contains(.reference) || !Self.isOfSecKey(attributes) else {
                throw ParsedQuery.refusal(
                    "kSecReturnRef: kSecValueData is \(secret == nil ? "missing" : "not a key of this type and class")."
                )
            }
            // Behaviour SK-09: the default label is SHA-1 of the public key, if the data is a key that SecKey supports.
            if attributes[.applicationLabel] == nil, let key {
                attributes[.applicationLabel] = .data(try key.publicKeyHash())
            }
        case .certificate:
            guard let secret, let certificate = Certificate(der: secret.copyBytes()) else {
                throw ParsedQuery.refusal("A certificate needs kSecValueRef, or kSecValueData in DER.")
            }
            self = try NewItem(SecCertificate(certificate)).with(query)
        }
    }

    /// Whether the attributes do not rule out a key that `SecKey` supports: RSA or NIST curve, public or private.
    private static func isOfSecKey(_ attributes: Attributes) -> Bool {
        let families = [nil, KeyFamily.rsa, .ellipticCurve].map { $0.map { AttributeValue.number($0.rawValue) } }
        let halves = [nil, KeyHalf.publicKey, .privateKey].map { $0.map { AttributeValue.number($0.rawValue) } }
        return families.contains(attributes[.keyType]) && halves.contains(attributes[.keyClass])
    }

    /// An item for a key, with the attributes that the key reports.
    init(_ key: SecKey) throws(Failure) {
        itemClass = .key
        guard !(key.backing is EnclaveKeyBacking) else {
            throw ParsedQuery.refusal("Keys of the Secure Enclave are generated there and cannot be added.")
        }
        var attributes: Attributes = [:]
        for (name, value) in try key.allAttributes() {
            guard let code = AttributeCode(constant: name, in: .key), ItemClass.key.has(code), code != .tokenID else {
                continue
            }
            attributes[code] = try AttributeValue(value, for: code, name)
        }
        attributes[.isPermanent] = .boolean(true)
        self.attributes = attributes
        secret = try key.backing.externalRepresentation()
    }

    /// An item for a certificate. Its names are stored in Apple's normalised form, so that searches ignore case.
    init(_ certificate: SecCertificate) throws(Failure) {
        let value = certificate.certificate
        itemClass = .certificate
        attributes = [
            .certificateType: .number(Int64(value.version)), .certificateEncoding: .number(Int64(Certificate.encoding)),
            .subject: .data(Array(value.normalizedSubjectContent)),
            .issuer: .data(Array(value.normalizedIssuerContent)),
            .serialNumber: .data(value.serialNumber), .publicKeyHash: .data(value.publicKeyHash),
        ]
        if let id = value.subjectKeyIdentifier { attributes[.subjectKeyID] = .data(id) }
        if let name = value.subjectSummary { attributes[.label] = .text(name) }
        secret = SecretBytes(value.der)
        // Behaviour KC-13: certificates are always readable unless the app sets another accessibility.
        accessControl = AccessControl(accessibility: .always)
    }

    /// Attributes that the object itself determines. A dictionary may repeat them but not change them: a private key
    /// stored as a public one could not be restored, and a certificate with another key's hash would form an identity
    /// with that key.
    private static let inherent: Set<AttributeCode> = [
        .keyClass, .keyType, .certificateType, .certificateEncoding, .subject, .issuer, .serialNumber, .subjectKeyID,
        .publicKeyHash,
    ]

    /// Returns this item with the attributes and the access control of an app's dictionary; the data does not change.
    func with(_ query: ParsedQuery) throws(Failure) -> NewItem {
        try with(query.attributes, query.effectiveAccessControl)
    }

    func with(_ given: Attributes, _ accessControl: AccessControl?) throws(Failure) -> NewItem {
        var item = self
        for (code, value) in given {
            guard itemClass.has(code) else {
                throw Failure(.noSuchAttribute, "Items of this class have no such attribute.")
            }
            guard !Self.inherent.contains(code) || attributes[code]?.compared == value.compared else {
                throw ParsedQuery.refusal("The attributes do not match the key or the certificate.")
            }
            item.attributes[code] = value
        }
        if let accessControl { item.accessControl = accessControl }
        return item
    }

    /// The attributes by which the object's items are found: the part of the primary key that the object determines.
    var identity: Attributes {
        let codes: Set<AttributeCode> =
            itemClass == .certificate
            ? [.certificateType, .issuer, .serialNumber]
            : [.applicationLabel, .keyClass, .keyType, .keySizeInBits]
        return attributes.filter { codes.contains($0.key) }
    }

    func request(_ returns: Returns, _ authentication: Authentication) -> Request.AddItem {
        Request.AddItem(
            itemClass: itemClass, attributes: attributes, accessControl: accessControl ?? AccessControl(),
            secret: secret, returns: returns, authentication: authentication)
    }
}
