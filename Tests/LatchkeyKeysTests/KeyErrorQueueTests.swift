// SPDX-License-Identifier: Apache-2.0

import COpenSSL
import LatchkeyCrypto
import LatchkeyModel
import Testing

/// libcrypto's error queue of a thread belongs to the app: a failed operation of a key neither adds to it nor empties it.
@Suite struct KeyErrorQueueTests {
    private func fail() throws {
        let key = try PrivateKey.generate(.p256)
        #expect(!key.publicKey.verifiesECDSA([UInt8](repeating: 1, count: 32), der: [0x30, 0x01, 0x00]))
        #expect(PublicKey([4] + [UInt8](repeating: 9, count: 64), type: .ellipticCurve(.p256)) == nil)
        let zero = try #require(PrivateScalar(SecretBytes([UInt8](repeating: 0, count: 32)), curve: .p256))
        #expect(throws: Failure(.internalFailure)) { try zero.sign([UInt8](repeating: 1, count: 32)) }
        let sealed = [UInt8](repeating: 1, count: 20)
        let secret = SecretBytes([UInt8](repeating: 1, count: 16))
        #expect(OneTimeCipher.open(sealed[...], key: secret, nonce: secret) == nil)
    }

    @Test func failuresLeaveNoError() throws {
        ERR_clear_error()
        try fail()
        #expect(ERR_peek_error() == 0)
    }

    @Test func anErrorOfTheAppRemains() throws {
        ERR_clear_error()
        #expect(EVP_CIPHER_fetch(nil, "no such cipher", nil) == nil)
        let own = ERR_peek_last_error()
        #expect(own != 0)
        try fail()
        #expect(ERR_peek_last_error() == own)
        ERR_clear_error()
    }
}
