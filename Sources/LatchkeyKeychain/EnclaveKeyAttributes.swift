// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel

extension Request.CreateEnclaveKey {
    /// `kSecAttrKeyClassPrivate`.
    private static let privateClass: Int64 = 1
    /// `kSecAttrKeyTypeECSECPrimeRandom`.
    private static let ellipticCurve: Int64 = 73

    /// The same with the attributes that follow from the key: what an app says of these counts nowhere (behaviour SE-01).
    package func describing(_ publicKey: [UInt8]) throws(Failure) -> Self {
        var request = self
        request.attributes.merge([
            .keyClass: .number(Self.privateClass), .keyType: .number(Self.ellipticCurve),
            .keySizeInBits: .number(256), .effectiveKeySize: .number(256), .isPermanent: .boolean(isPermanent),
            .canEncrypt: .boolean(false), .canDecrypt: .boolean(true), .canDerive: .boolean(true),
            .canSign: .boolean(true), .canVerify: .boolean(false), .canWrap: .boolean(false),
            .canUnwrap: .boolean(true),
        ]) { $1 }
        // Behaviour SK-09.
        if request.attributes[.applicationLabel] == nil {
            request.attributes[.applicationLabel] = .data(try sha1(publicKey))
        }
        return request
    }
}
