// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyModel

/// An X.509 certificate (RFC 5280): its bytes, and what an app or a keychain asks of them.
///
/// Nothing here says whether it can be trusted: no signature is verified.
package struct Certificate: Sendable {
    /// The certificate, exactly as it was given.
    package let der: [UInt8]
    /// Version as people count, 1 to 3: the value of `kSecAttrCertificateType`.
    package let version: Int
    /// DER: the value of `kSecAttrCertificateEncoding`.
    package static let encoding = 3
    /// Contents of the serial number's INTEGER: big-endian, two's complement, so a zero byte may stand in front.
    package let serialNumber: [UInt8]
    /// Subject as a DER SEQUENCE.
    package let subject: [UInt8]
    /// Issuer as a DER SEQUENCE.
    package let issuer: [UInt8]
    /// Subject as a DER SEQUENCE, as `DistinguishedName.normalized` makes it.
    package let normalizedSubject: [UInt8]
    /// Issuer as a DER SEQUENCE, as `DistinguishedName.normalized` makes it.
    package let normalizedIssuer: [UInt8]
    /// The subject key identifier, when the certificate has one.
    package let subjectKeyIdentifier: [UInt8]?
    /// The key identifier of its issuer, when the certificate names one.
    package let authorityKeyIdentifier: [UInt8]?
    /// `SubjectPublicKeyInfo` as DER.
    package let subjectPublicKeyInfo: [UInt8]
    /// SHA-1 of the public key's external form, which is what the key's BIT STRING holds: PKCS#1 for RSA, the uncompressed
    /// point for elliptic curves. Equals `kSecAttrApplicationLabel` of the key pair.
    package let publicKeyHash: [UInt8]
    /// Start of the validity, in microseconds since 1970.
    package let notBefore: Int64
    /// End of the validity, in microseconds since 1970; that moment is part of it.
    package let notAfter: Int64
    /// The last common name of the subject. Nil without one, and when one of them is no text.
    package let commonName: String?
    /// rfc822Names of the subjectAltName extension, then emailAddresses of the subject.
    package let emailAddresses: [String]
    /// The text of every value of the subject, in its order.
    package let subjectTexts: [String]
    /// What to call the certificate; see `summary(of:_:hosts:)`.
    package let subjectSummary: String?

    /// Reads exactly one certificate in DER; nil for anything else, also with bytes behind it.
    ///
    /// Refuses more than `Limits.secretBytes` bytes, serial numbers of more than 37 bytes (Apple's bound), names and times
    /// that are none, and critical extensions that concern the values above and cannot be read.
    package init?(der: [UInt8]) {
        guard der.count <= Limits.secretBytes, DERElement.isExactlyOne(der[...]), let x509 = X509(der: der) else {
            return nil
        }
        guard (1...3).contains(x509.version), let serial = x509.serialNumber, (1...37).contains(serial.count),
            let subject = x509.subject, let issuer = x509.issuer,
            let normalizedSubject = DistinguishedName.normalized(subject),
            let normalizedIssuer = DistinguishedName.normalized(issuer),
            let key = x509.subjectPublicKeyInfo, let hash = x509.publicKeyHash,
            let notBefore = x509.notBefore, let notAfter = x509.notAfter,
            let subjectKey = x509.subjectKeyIdentifier, let authorityKey = x509.authorityKeyIdentifier,
            let alternatives = x509.alternativeNames
        else { return nil }
        self.der = der
        version = x509.version
        serialNumber = serial
        self.subject = subject
        self.issuer = issuer
        self.normalizedSubject = normalizedSubject
        self.normalizedIssuer = normalizedIssuer
        subjectKeyIdentifier = subjectKey.value
        authorityKeyIdentifier = authorityKey.value.flatMap { $0.isEmpty ? nil : $0 }
        subjectPublicKeyInfo = key
        publicKeyHash = hash
        self.notBefore = notBefore
        self.notAfter = notAfter
        let values = x509.subjectValues
        commonName = Self.texts(of: .commonName, values)?.last
        emailAddresses = (alternatives.value?.emailAddresses ?? []) + (Self.texts(of: .emailAddress, values) ?? [])
        subjectTexts = values.compactMap(\.text)
        subjectSummary = Self.summary(of: values, emailAddresses, hosts: alternatives.value?.hosts ?? [])
    }

    /// The values of one kind; nil when one of them is no text.
    private static func texts(
        of attribute: NameAttribute, _ values: [(attribute: NameAttribute, text: String?)]
    ) -> [String]? {
        let texts = values.filter { $0.attribute == attribute }.map(\.text)
        return texts.contains(nil) ? nil : texts.compactMap(\.self)
    }

    /// Common names, else organisational units, else organisations, else all that the subject says, else the first e-mail
    /// address, else the first DNS name.
    ///
    /// Several values are joined with commas, the last one first, as Apple's summaries show them; a description stands in
    /// brackets behind a common name.
    private static func summary(
        of values: [(attribute: NameAttribute, text: String?)], _ emailAddresses: [String], hosts: [String]
    ) -> String? {
        func joined(_ isMeant: (NameAttribute) -> Bool) -> String? {
            let texts = values.filter { isMeant($0.attribute) }.compactMap(\.text)
            return texts.isEmpty ? nil : texts.reversed().joined(separator: ", ")
        }
        if let name = joined({ $0 == .commonName }) {
            return joined { $0 == .descriptionText }.map { "\(name) (\($0))" } ?? name
        }
        return joined { $0 == .organizationalUnit } ?? joined { $0 == .organization } ?? joined { _ in true }
            ?? emailAddresses.first ?? hosts.first
    }

    /// Contents of `normalizedSubject`: the value of `kSecAttrSubject`.
    package var normalizedSubjectContent: ArraySlice<UInt8> { DistinguishedName.contents(of: normalizedSubject) }

    /// Contents of `normalizedIssuer`: the value of `kSecAttrIssuer`.
    package var normalizedIssuerContent: ArraySlice<UInt8> { DistinguishedName.contents(of: normalizedIssuer) }

    /// Whether the other certificate's subject is this one's issuer, by names and, where both are there, key identifiers.
    /// No signature is verified.
    package func namesAsIssuer(_ other: Certificate) -> Bool {
        guard normalizedIssuer == other.normalizedSubject else { return false }
        guard let mine = authorityKeyIdentifier, let theirs = other.subjectKeyIdentifier else { return true }
        return mine == theirs
    }
}

extension Certificate: Hashable {
    /// Certificates are equal when their bytes are.
    package static func == (left: Certificate, right: Certificate) -> Bool { left.der == right.der }

    package func hash(into hasher: inout Hasher) { hasher.combine(der) }
}
