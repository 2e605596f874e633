// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel

/// Finds the private key of a certificate in the keychain: the one whose `kSecAttrApplicationLabel` is the certificate's
/// `kSecAttrPublicKeyHash`, and whose public half is the certificate's. Ends with `itemNotFound` when there is none. May prompt for a key with access control.
func privateKey(matching certificate: SecCertificate) throws(Failure) -> SecKey {
    let access = try KeychainAccess(ParsedQuery([:]))
    let query = ItemQuery(
        itemClass: .key,
        attributes: [.keyClass: .number(1), .applicationLabel: .data(certificate.certificate.publicKeyHash)],
        anySynchronizable: true)
    for item in try access.copy(query, limit: 0, [.data, .attributes, .persistentReference]) {
        if let key = item.privateKey(of: certificate, access) { return key }
    }
    throw Failure(.itemNotFound, "The keychain has no private key for this certificate.")
}

extension FoundItem {
    /// The key, if it is the private one of a certificate.
    func privateKey(of certificate: SecCertificate, _ access: KeychainAccess) -> SecKey? {
        guard let key = reference(access) as? SecKey, key.backing.isPrivate,
            let publicKey = SecCertificateCopyKey(certificate), key.publicHalf == publicKey
        else { return nil }
        return key
    }
}
