// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeys
package import LatchkeyModel

extension Request.CreateEnclaveKey {
    /// Returns the request with the attributes that follow from the key; an app's own values for them are ignored
    /// (behaviour SE-01).
    package func describing(_ publicKey: [UInt8]) throws(Failure) -> Self {
        var request = self
        request.attributes.merge(.ofKey(.privateKey, .ellipticCurve, bitCount: 256, isPermanent: isPermanent))
        // Behaviour SK-09.
        if request.attributes[.applicationLabel] == nil {
            request.attributes[.applicationLabel] = .data(try DigestAlgorithm.sha1.hash(publicKey))
        }
        return request
    }
}
