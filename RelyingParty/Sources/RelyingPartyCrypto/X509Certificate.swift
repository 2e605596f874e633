// SPDX-License-Identifier: Apache-2.0

/// The fields of an X.509 certificate (RFC 5280) that are compared. Its signature is not verified.
package struct X509Certificate: Equatable, Sendable {
    /// An attribute of the subject (RFC 5280, appendix A.1).
    package enum Attribute: CaseIterable, Sendable {
        case country, organization, unit, commonName
    }

    /// An extension that may be there.
    package enum Extension: Equatable, Sendable {
        case absent
        /// The contents of its string of bytes.
        case value([UInt8], isCritical: Bool)
        /// It is there more than once, which RFC 5280, section 4.2, forbids.
        case repeated
    }

    /// 1 to 3.
    package let version: Int
    /// Whether it has basic constraints that can be read.
    package let hasConstraints: Bool
    /// Whether the basic constraints permit to issue certificates.
    package let isAuthority: Bool
    /// The SubjectPublicKeyInfo in DER.
    package let publicKey: [UInt8]?
    private let subject: [Attribute: String]
    private let der: [UInt8]

    /// Reads exactly one certificate; nil for anything else, and for trailing bytes.
    package init?(der: [UInt8]) {
        guard let fields = LibCrypto.certificate(der) else { return nil }
        (version, hasConstraints, isAuthority) = (fields.version, fields.hasConstraints, fields.isAuthority)
        (publicKey, subject, self.der) = (fields.publicKey, fields.subject, der)
    }

    /// An attribute of the subject; nil if it is not there exactly once, or no text.
    package func subject(_ attribute: Attribute) -> String? { subject[attribute] }

    /// An extension, by the digits of its object identifier.
    package func `extension`(_ identifier: String) -> Extension { LibCrypto.extension(identifier, of: der) }
}
