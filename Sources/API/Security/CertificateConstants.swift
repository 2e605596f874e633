// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Names and values of Apple's constants for certificates and identities, compared with Tests/Vectors/security.tsv by
// `SecurityConstantTests`.

/// Value of `kSecClass` for certificates. Apple: `kSecClassCertificate`.
nonisolated(unsafe) public let kSecClassCertificate: CFString = "cert"
/// Value of `kSecClass` for identities: pairs of a certificate and the private key of its public key.
/// Apple: `kSecClassIdentity`.
nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt"
/// X.509 version of a certificate: a number from 1 to 3, set by the keychain. Apple: `kSecAttrCertificateType`.
nonisolated(unsafe) public let kSecAttrCertificateType: CFString = "ctyp"
/// Encoding of a certificate: a number, always 3 for DER, set by the keychain. Apple: `kSecAttrCertificateEncoding`.
nonisolated(unsafe) public let kSecAttrCertificateEncoding: CFString = "cenc"
/// Normalised subject of a certificate: `Data`, the DER contents without the outer SEQUENCE header, set by the
/// keychain. Apple: `kSecAttrSubject`.
nonisolated(unsafe) public let kSecAttrSubject: CFString = "subj"
/// Normalised issuer of a certificate: `Data`, the DER contents without the outer SEQUENCE header, set by the keychain.
/// Apple: `kSecAttrIssuer`.
nonisolated(unsafe) public let kSecAttrIssuer: CFString = "issr"
/// Serial number of a certificate: `Data`, the contents of the DER INTEGER, big-endian, set by the keychain.
/// Apple: `kSecAttrSerialNumber`.
nonisolated(unsafe) public let kSecAttrSerialNumber: CFString = "slnr"
/// Subject key identifier of a certificate (RFC 5280, section 4.2.1.2): `Data`, set by the keychain if the certificate
/// has one. Apple: `kSecAttrSubjectKeyID`.
nonisolated(unsafe) public let kSecAttrSubjectKeyID: CFString = "skid"
/// SHA-1 of the external representation of a certificate's public key: `Data` of 20 bytes, set by the keychain.
/// Apple: `kSecAttrPublicKeyHash`.
nonisolated(unsafe) public let kSecAttrPublicKeyHash: CFString = "pkhh"
