// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel

extension Request.CreateEnclaveKey {
    /// Returns the request with the attributes that follow from the key. They replace the app's own values (behaviour
    /// SE-01), except its application label, which is set only when missing (behaviour SK-09).
    package func describing(_ publicKey: [UInt8]) throws(Failure) -> Self {
        var request = self
        request.attributes.merge(.ofKey(.privateKey, .ellipticCurve, bitCount: 256, isPermanent: isPermanent))
        if request.attributes[.applicationLabel] == nil {
            request.attributes[.applicationLabel] = .data(try DigestAlgorithm.sha1.hash(publicKey))
        }
        return request
    }
}
