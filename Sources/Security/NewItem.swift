// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyCertificates
import LatchkeyKeys
import LatchkeyModel

/// An item that an object or an app's dictionary describes, before it is stored.
struct NewItem {
    var itemClass: ItemClass
    var attributes: Attributes
    var secret: SecretBytes?
    var accessControl: AccessControl?

    /// What a dictionary says.
    init(_ query: ParsedQuery, _ itemClass: ItemClass) throws(Failure) {
        self.itemClass = itemClass
        attributes = query.attributes
        secret = query.secret
        accessControl = query.rule
        switch itemClass {
        case .genericPassword, .internetPassword: break
        case .key:
            let key = secret.flatMap { SecKey(stored: attributes, $0) }
            // Behaviour SK-10. Of symmetric keys and of other types there is no SecKey at all.
            guard key != nil || !query.returns.contains(.reference) || !Self.isOfSecKey(attributes) else {
                throw ParsedQuery.refusal(
                    "kSecReturnRef: kSecValueData is no \(secret == nil ? "key, it is missing" : "key of this type and class")."
                )
            }
            // Behaviour SK-09, where the data is a key at all.
            if attributes[.applicationLabel] == nil, let key {
                attributes[.applicationLabel] = .data(try key.publicKeyHash())
            }
        case .certificate:
            guard let secret, let certificate = Certificate(der: secret.copyBytes()) else {
                throw ParsedQuery.refusal("A certificate is added by kSecValueRef, or by kSecValueData in DER.")
            }
            self = try NewItem(SecCertificate(certificate)).with(query)
        }
    }

    /// Whether the attributes are those of a key that there is a `SecKey` of, as far as they say.
    private static func isOfSecKey(_ attributes: Attributes) -> Bool {
        let families = [nil, KeyFamily.rsa, .ellipticCurve].map { $0.map { AttributeValue.number($0.rawValue) } }
        let halves = [nil, KeyHalf.publicKey, .privateKey].map { $0.map { AttributeValue.number($0.rawValue) } }
        return families.contains(attributes[.keyType]) && halves.contains(attributes[.keyClass])
    }

    /// A key, with what it reports of itself.
    init(_ key: SecKey) throws(Failure) {
        itemClass = .key
        guard !(key.backing is EnclaveKeyBacking) else {
            throw ParsedQuery.refusal("Keys of the Secure Enclave are made there and never put in.")
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

    /// A certificate. Apple: normalized names, so that equal ones are found whatever their case.
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
        // Behaviour KC-13.
        accessControl = AccessControl(accessibility: .always)
    }

    /// What follows from an object itself. A dictionary may repeat it and not contradict it: a private key that calls
    /// itself public is never a key again, and a certificate of a foreign key's hash would get that key for its own.
    private static let inherent: Set<AttributeCode> = [
        .keyClass, .keyType, .certificateType, .certificateEncoding, .subject, .issuer, .serialNumber, .subjectKeyID,
        .publicKeyHash,
    ]

    /// The same with what an app's dictionary says besides; an object's own bytes stay.
    func with(_ query: ParsedQuery) throws(Failure) -> NewItem { try with(query.attributes, query.rule) }

    func with(_ given: Attributes, _ rule: AccessControl?) throws(Failure) -> NewItem {
        var item = self
        for (code, value) in given {
            guard itemClass.has(code) else {
                throw Failure(.noSuchAttribute, "Items of this class have no such attribute.")
            }
            guard !Self.inherent.contains(code) || attributes[code]?.compared == value.compared else {
                throw ParsedQuery.refusal("The attributes contradict the key or the certificate.")
            }
            item.attributes[code] = value
        }
        if let rule { item.accessControl = rule }
        return item
    }

    /// What finds items of the object: its primary key, as far as the object itself determines it.
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
