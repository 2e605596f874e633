// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import Testing

/// A reply that a test did not expect.
struct UnexpectedReply: Error { let reply: Reply? }

extension EnclaveKey {
    /// Verifies the signature in a reply; returns the status of a refusal, nil for a right signature.
    func verify(_ reply: Reply?, _ digest: [UInt8]) throws -> Status? {
        switch reply {
        case .enclaveResult(let signature)?:
            let publicKey = try #require(PublicKey(publicKey, type: .ellipticCurve(.p256)))
            let der = try #require(ECDSASignature.der(raw: signature.copyBytes(), curve: .p256))
            #expect(publicKey.verifiesECDSA(digest, der: der))
            return nil
        case .failure(let failure)?: return failure.status
        case let reply: throw UnexpectedReply(reply: reply)
        }
    }
}
