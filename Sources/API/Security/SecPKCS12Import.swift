// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyCertificates
import LatchkeyCrypto
package import LatchkeyModel

/// Reads the identities in a PKCS#12 file.
///
/// - Parameters:
///   - pkcs12_data: the file in DER (RFC 7292), at most 1 MiB.
///   - options: `kSecImportExportPassphrase`, a string, required also for an empty passphrase. `kSecImportToMemoryOnly`
///     must be a Boolean; it and all other keys have no effect.
///   - items: set to an array with one dictionary for each identity, in the order of the file, empty when the file has
///     none; unchanged on failure. The keys of a dictionary:
///     - `kSecImportItemIdentity`: the `SecIdentity`.
///     - `kSecImportItemCertChain`: the certificate, then those of its issuers that the file contains; not verified.
///     - `kSecImportItemLabel`: the friendly name in the file, else the certificate's subject summary, if there is one.
///     - `kSecImportItemKeyID`: the local key identifier in the file, else SHA-1 of the public key.
/// - Returns: a result code:
///   - `errSecSuccess`: the file was read.
///   - `errSecAuthFailed`: the passphrase is missing or wrong, or the file was changed.
///   - `errSecDecode`: the data is not a PKCS#12 file that is protected by a passphrase, or each of its private keys is
///     malformed or neither RSA nor on a NIST curve. Beside other identities such a key is left out.
///   - `errSecParam`: an option has the wrong type.
///   - -26276: libcrypto cannot decrypt the file, or the file needs more than 4,000,000 iterations or has more than 512
///     keys and certificates. `SecCopyErrorMessageString` gives the reason (behaviour OT-03).
///
/// Stores nothing, never prompts and does not contact the daemon. Takes up to a few seconds, depending on the iteration
/// count of the file.
///
/// > Note: Linux: the results have no `kSecImportItemTrust`, since trust evaluation is not available.
///
/// Apple: `SecPKCS12Import(_:_:_:)`.
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
        LastFailure.record(error.words, for: error.status)
        return error.status
    }
}

/// A result code and the message that explains it.
private struct ImportRefusal: Error {
    let status: OSStatus
    let words: String

    init(_ status: OSStatus, _ words: String) { (self.status, self.words) = (status, words) }

    init(_ refusal: PKCS12.Refusal) {
        switch refusal {
        case .undecodable:
            self.init(errSecDecode, "The data is not a PKCS#12 file with a passphrase, or is damaged.")
        case .unreadableKey:
            self.init(
                errSecDecode, "A private key in the PKCS#12 file is malformed, or is neither RSA nor on a NIST curve.")
        case .wrongPassphrase:
            self.init(errSecAuthFailed, "The passphrase of the PKCS#12 file is wrong, or the file was changed.")
        case .unsupported:
            self.init(
                errSecInternal,
                "This system's libcrypto cannot decrypt the PKCS#12 file. Create it again with AES, as `openssl pkcs12` does, "
                    + "or install libcrypto's provider \"legacy\".")
        case .tooMuchWork:
            self.init(
                errSecInternal,
                "The PKCS#12 file needs more than \(PKCS12.iterations) iterations, or has more than \(PKCS12.bags) "
                    + "keys and certificates.")
        case .failed:
            self.init(errSecInternal, "libcrypto could not read the PKCS#12 file: memory ran out.")
        }
    }
}

/// The passphrase in the options; nil when it is absent. Throws for options of the wrong type.
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

/// The public key hash that links a private key to its certificate; nil for a key that `SecKey` does not support.
package func publicKeyHash(ofPKCS8 key: SecretBytes) -> [UInt8]? {
    PrivateKey(pkcs8: key).flatMap { try? SecKey($0).publicKeyHash() }
}

private func dictionary(_ identity: PKCS12.Identity) throws(ImportRefusal) -> NSDictionary {
    // `publicKeyHash` read the same bytes before.
    guard let key = PrivateKey(pkcs8: identity.privateKey) else { throw ImportRefusal(.unreadableKey) }
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
