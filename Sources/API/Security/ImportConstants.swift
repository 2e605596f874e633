// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Names and values of Apple's constants for PKCS#12, compared with Tests/Vectors/security.tsv by
// `SecurityConstantTests`.

/// Option of `SecPKCS12Import`: the file's passphrase, a string. Required. Apple: `kSecImportExportPassphrase`.
nonisolated(unsafe) public let kSecImportExportPassphrase: CFString = "passphrase"
/// Option of `SecPKCS12Import`: a Boolean, accepted without effect, since an import never stores anything.
/// Apple: `kSecImportToMemoryOnly`.
nonisolated(unsafe) public let kSecImportToMemoryOnly: CFString = "memory"
/// Key in the results of `SecPKCS12Import`: the friendly name in the file, else the certificate's summary; a string.
/// Apple: `kSecImportItemLabel`.
nonisolated(unsafe) public let kSecImportItemLabel: CFString = "label"
/// Key in the results of `SecPKCS12Import`: the local key identifier in the file, else SHA-1 of the public key; `Data`.
/// Apple: `kSecImportItemKeyID`.
nonisolated(unsafe) public let kSecImportItemKeyID: CFString = "keyid"
/// Key in the results of `SecPKCS12Import`: an array of `SecCertificate`, the identity's own first, then its issuers.
/// The chain is not verified. Apple: `kSecImportItemCertChain`.
nonisolated(unsafe) public let kSecImportItemCertChain: CFString = "chain"
/// Key in the results of `SecPKCS12Import`: the `SecIdentity`. Apple: `kSecImportItemIdentity`.
nonisolated(unsafe) public let kSecImportItemIdentity: CFString = "identity"
