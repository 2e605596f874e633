// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyCertificates
import LatchkeyKeys
package import LatchkeyModel

/// Reads the identities of a PKCS#12 file. Apple: `SecPKCS12Import`.
///
/// - Parameters:
///   - pkcs12_data: the file (RFC 7292), of at most 1 MiB.
///   - options: `kSecImportExportPassphrase`, a string, is needed, also for a file whose passphrase is empty; further keys
///     have no effect.
///   - items: set to an array with one dictionary for each identity, in the order of the file, empty for a file without
///     any; untouched on failure. Each holds `kSecImportItemIdentity`, `kSecImportItemCertChain` (the certificate and the
///     issuers that the file holds, nothing verified), `kSecImportItemLabel` (the name in the file, else the certificate's
///     summary, when there is one) and `kSecImportItemKeyID` (the key's identifier in the file, else SHA-1 of the public
///     key).
/// - Returns: `errSecSuccess`; `errSecAuthFailed` for a missing or wrong passphrase and for a file that was changed;
///   `errSecDecode` for what is no such file, or holds a key that is none of RSA or a NIST curve; `errSecParam` for an
///   option of a wrong type; -26276 for a file that libcrypto cannot decrypt or that asks for more than 4,000,000
///   iterations, with the reason in `SecCopyErrorMessageString` (behaviour OT-03).
///
/// Nothing is stored. Runs for as long as the file's iterations take, a few seconds at most; never prompts.
///
/// > Note: Linux: `kSecImportItemTrust` is missing from the results, since there is no `SecTrust`.
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    do throws(ImportRefusal) {
        let passphrase = try passphrase(options)
        let file = pkcs12_data.withUnsafeBytes { Array($0) }
        switch PKCS12.open(file, passphrase: passphrase, publicKeyHash: publicKeyHash(ofPKCS8:)) {
        case .failure(let refusal): throw ImportRefusal(refusal)
        case .success(let identities):
            var found: [NSDictionary] = []
            for identity in identities { found.append(try dictionary(identity)) }
            items.pointee = found as NSArray
        }
        return errSecSuccess
    } catch {
        LastFailure.keep(error.words, for: error.status)
        return error.status
    }
}

/// A code and the words that explain it.
private struct ImportRefusal: Error {
    let status: OSStatus
    let words: String

    init(_ status: OSStatus, _ words: String) {
        self.status = status
        self.words = words
    }

    init(_ refusal: PKCS12.Refusal) {
        switch refusal {
        case .undecodable:
            self.init(errSecDecode, "The data is no PKCS#12 file with a passphrase, or is damaged.")
        case .wrongPassphrase:
            self.init(errSecAuthFailed, "The passphrase of the PKCS#12 file is another, or the file was changed.")
        case .unsupported:
            self.init(
                errSecInternal,
                "This system's libcrypto cannot decrypt the PKCS#12 file. Make it anew with AES, as `openssl pkcs12` does, "
                    + "or install libcrypto's provider \"legacy\".")
        case .tooMuchWork:
            self.init(
                errSecInternal,
                "The PKCS#12 file asks for more than \(PKCS12.iterations) iterations, or holds more than \(PKCS12.bags) "
                    + "keys and certificates.")
        case .failed:
            self.init(errSecInternal, "libcrypto could not read the PKCS#12 file: memory ran out.")
        }
    }
}

/// The passphrase; nil when the app gave none.
private func passphrase(_ options: NSDictionary) throws(ImportRefusal) -> SecretBytes? {
    if let flag = options[kSecImportToMemoryOnly as String], !(flag is NSNumber) {
        throw ImportRefusal(errSecParam, "kSecImportToMemoryOnly takes a Boolean.")
    }
    guard let given = options[kSecImportExportPassphrase as String] else { return nil }
    guard let text = given as? String else {
        throw ImportRefusal(errSecParam, "kSecImportExportPassphrase takes a string.")
    }
    return SecretBytes(text.utf8)
}

/// By which a certificate is found for a private key; nil for a key of a kind that `SecKey` cannot be.
package func publicKeyHash(ofPKCS8 key: SecretBytes) -> [UInt8]? {
    PrivateKey(pkcs8: key).flatMap { try? SecKey($0).publicKeyHash() }
}

/// What an app gets for one identity.
private func dictionary(_ identity: PKCS12.Identity) throws(ImportRefusal) -> NSDictionary {
    guard let key = PrivateKey(pkcs8: identity.privateKey) else {
        throw ImportRefusal(
            errSecDecode, "A private key in the PKCS#12 file is malformed, or neither RSA nor of a NIST curve.")
    }
    let certificate = SecCertificate(identity.certificate)
    var item: [String: Any] = [
        kSecImportItemIdentity as String: SecIdentity(certificate, SecKey(key)),
        kSecImportItemCertChain as String: identity.chain.map { SecCertificate($0) } as NSArray,
        kSecImportItemKeyID as String:
            Data(identity.localKeyIdentifier ?? identity.certificate.publicKeyHash) as NSData,
    ]
    if let label = identity.friendlyName ?? identity.certificate.subjectSummary {
        item[kSecImportItemLabel as String] = label as NSString
    }
    return item as NSDictionary
}
