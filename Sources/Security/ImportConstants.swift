// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Names and values of Apple's constants for PKCS#12, compared with Tests/Vectors/security.tsv by
// `SecurityConstantTests`.

/// Option of `SecPKCS12Import`: the passphrase, a string. Apple: `kSecImportExportPassphrase`.
nonisolated(unsafe) public let kSecImportExportPassphrase: CFString = "passphrase"
/// Option of `SecPKCS12Import`: a Boolean, without effect, since an import never stores anything. Apple:
/// `kSecImportToMemoryOnly`.
nonisolated(unsafe) public let kSecImportToMemoryOnly: CFString = "memory"
/// Result of an import: the item's name, a string. Apple: `kSecImportItemLabel`.
nonisolated(unsafe) public let kSecImportItemLabel: CFString = "label"
/// Result of an import: what the key is known by, `Data`. Apple: `kSecImportItemKeyID`.
nonisolated(unsafe) public let kSecImportItemKeyID: CFString = "keyid"
/// Result of an import: an array of `SecCertificate`, the identity's own first. Apple: `kSecImportItemCertChain`.
nonisolated(unsafe) public let kSecImportItemCertChain: CFString = "chain"
/// Result of an import: a `SecIdentity`. Apple: `kSecImportItemIdentity`.
nonisolated(unsafe) public let kSecImportItemIdentity: CFString = "identity"
