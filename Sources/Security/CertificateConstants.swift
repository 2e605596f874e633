// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Names and values of Apple's constants for certificates and identities, compared with Tests/Vectors/security.tsv by
// `SecurityConstantTests`.

/// Class of certificates. Apple: `kSecClassCertificate`.
nonisolated(unsafe) public let kSecClassCertificate: CFString = "cert"
/// Class of identities: a certificate and the private key of its public key. Apple: `kSecClassIdentity`.
nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt"
/// Version of a certificate as people count, 1 to 3: a number, set by the keychain. Apple: `kSecAttrCertificateType`.
nonisolated(unsafe) public let kSecAttrCertificateType: CFString = "ctyp"
/// Encoding of a certificate: a number, always 3 for DER, set by the keychain. Apple: `kSecAttrCertificateEncoding`.
nonisolated(unsafe) public let kSecAttrCertificateEncoding: CFString = "cenc"
/// Contents of the normalised subject: `Data`, set by the keychain. Apple: `kSecAttrSubject`.
nonisolated(unsafe) public let kSecAttrSubject: CFString = "subj"
/// Contents of the normalised issuer: `Data`, set by the keychain. Apple: `kSecAttrIssuer`.
nonisolated(unsafe) public let kSecAttrIssuer: CFString = "issr"
/// Serial number, big-endian: `Data`, set by the keychain. Apple: `kSecAttrSerialNumber`.
nonisolated(unsafe) public let kSecAttrSerialNumber: CFString = "slnr"
/// Subject key identifier: `Data`, set by the keychain for certificates that have one. Apple: `kSecAttrSubjectKeyID`.
nonisolated(unsafe) public let kSecAttrSubjectKeyID: CFString = "skid"
/// SHA-1 of the public key's external form: 20 bytes of `Data`, set by the keychain. Apple: `kSecAttrPublicKeyHash`.
nonisolated(unsafe) public let kSecAttrPublicKeyHash: CFString = "pkhh"
