// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel

/// Finds the private key of a certificate in the keychain: the one whose `kSecAttrApplicationLabel` is the certificate's
/// `kSecAttrPublicKeyHash`. Ends with `itemNotFound` when there is none.
func privateKey(matching certificate: SecCertificate) throws(Failure) -> SecKey {
    throw Failure(.itemNotFound, "The keychain has no private key for this certificate: this version keeps no keys.")
}
