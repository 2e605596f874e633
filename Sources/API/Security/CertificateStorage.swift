// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel

/// Finds the private key of a certificate in the keychain: its `kSecAttrApplicationLabel` equals the certificate's
/// `kSecAttrPublicKeyHash`, and its public key equals the certificate's public key.
///
/// Throws `itemNotFound` when the keychain has no such key. Blocks; may prompt when a key has an access control.
func privateKey(matching certificate: SecCertificate) throws(Failure) -> SecKey {
    let access = try KeychainAccess(ParsedQuery([:]))
    let query = ItemQuery(
        itemClass: .key,
        attributes: [.keyClass: .number(1), .applicationLabel: .data(certificate.certificate.publicKeyHash)],
        anySynchronizable: true)
    for item in try access.copy(query, limit: .all, [.data, .attributes, .persistentReference]) {
        if let key = item.privateKey(of: certificate, access) { return key }
    }
    throw Failure(.itemNotFound, "The keychain has no private key for this certificate.")
}

extension FoundItem {
    /// The private key of this item when it belongs to the certificate, else nil.
    func privateKey(of certificate: SecCertificate, _ access: KeychainAccess) -> SecKey? {
        guard let key = reference(access) as? SecKey, key.backing.isPrivate,
            let publicKey = SecCertificateCopyKey(certificate), key.publicHalf == publicKey
        else { return nil }
        return key
    }
}
