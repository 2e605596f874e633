// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyModel

/// An X.509 certificate (RFC 5280): its DER and the fields that the API and the keychain use.
///
/// Verifies no signature and makes no statement about trust.
package struct Certificate: Sendable {
    /// The complete certificate, exactly the bytes given to `init(der:)`.
    package let der: [UInt8]
    /// X.509 version, 1 to 3; the value of `kSecAttrCertificateType`.
    package let version: Int
    /// Code for DER; the value of `kSecAttrCertificateEncoding`.
    package static let encoding = 3
    /// Contents of the serial number's INTEGER: big-endian two's complement, so the first byte may be zero.
    package let serialNumber: [UInt8]
    /// The subject, a DER SEQUENCE.
    package let subject: [UInt8]
    /// The issuer, a DER SEQUENCE.
    package let issuer: [UInt8]
    /// The subject after `DistinguishedName.normalized`, a DER SEQUENCE.
    package let normalizedSubject: [UInt8]
    /// The issuer after `DistinguishedName.normalized`, a DER SEQUENCE.
    package let normalizedIssuer: [UInt8]
    /// The subject key identifier; nil without that extension.
    package let subjectKeyIdentifier: [UInt8]?
    /// The key identifier of the authority key identifier extension; nil when it is absent.
    package let authorityKeyIdentifier: [UInt8]?
    /// The `SubjectPublicKeyInfo`, in DER.
    package let subjectPublicKeyInfo: [UInt8]
    /// SHA-1 of the public key's BIT STRING contents: PKCS#1 for RSA, the uncompressed point for elliptic curves.
    /// Equals `kSecAttrApplicationLabel` of the key pair.
    package let publicKeyHash: [UInt8]
    /// Start of the validity period, in microseconds since 1970.
    package let notBefore: Int64
    /// End of the validity period (inclusive), in microseconds since 1970.
    package let notAfter: Int64
    /// The last common name of the subject; nil when there is none, or when any common name cannot be decoded as text.
    package let commonName: String?
    /// The rfc822Names of the subjectAltName extension, then the emailAddress attributes of the subject.
    package let emailAddresses: [String]
    /// All attribute values of the subject that can be decoded as text, in their order.
    package let subjectTexts: [String]
    /// The display name of the certificate; see `summary(of:_:hosts:)`.
    package let subjectSummary: String?

    /// Reads exactly one certificate in DER; nil when it is malformed or has trailing bytes.
    ///
    /// Also rejects more than `Limits.secretBytes` bytes, serial numbers of more than 37 bytes (Apple's limit),
    /// malformed names and times, and critical extensions among those stored above that cannot be decoded.
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

    /// The values of one attribute type; nil when any of them cannot be decoded as text.
    private static func texts(
        of attribute: NameAttribute, _ values: [(attribute: NameAttribute, text: String?)]
    ) -> [String]? {
        let texts = values.filter { $0.attribute == attribute }.map(\.text)
        return texts.contains(nil) ? nil : texts.compactMap(\.self)
    }

    /// Builds the display name from the first of these that exists: common names, organisational units, organisations,
    /// all values of the subject, the first e-mail address, the first DNS name.
    ///
    /// Several values are joined with commas, the last one first, as in Apple's summaries. A description is appended
    /// to a common name in parentheses.
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

    /// Contents of the SEQUENCE `normalizedSubject`; the value of `kSecAttrSubject`.
    package var normalizedSubjectContent: ArraySlice<UInt8> { DistinguishedName.contents(of: normalizedSubject) }

    /// Contents of the SEQUENCE `normalizedIssuer`; the value of `kSecAttrIssuer`.
    package var normalizedIssuerContent: ArraySlice<UInt8> { DistinguishedName.contents(of: normalizedIssuer) }

    /// Whether `other` is named as the issuer of this certificate: by its name and, where both have one, its key
    /// identifier. Verifies no signature.
    package func namesAsIssuer(_ other: Certificate) -> Bool {
        guard normalizedIssuer == other.normalizedSubject else { return false }
        guard let mine = authorityKeyIdentifier, let theirs = other.subjectKeyIdentifier else { return true }
        return mine == theirs
    }
}

extension Certificate: Hashable {
    /// Compares the DER.
    package static func == (left: Certificate, right: Certificate) -> Bool { left.der == right.der }

    package func hash(into hasher: inout Hasher) { hasher.combine(der) }
}
