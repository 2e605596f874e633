// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TestSupport
import Testing

/// scrypt with r = 8 and p = 1.
@Suite struct StretchingTests {
    /// RFC 7914, section 12, the case with N = 16384, r = 8, p = 1. The RFC prints 64 bytes; the first 32 do not
    /// depend on how many are asked for, since the last step is PBKDF2 with blocks of 32.
    @Test func stretchingYieldsThePublishedBytes() throws {
        let key = try SymmetricKey.stretching(
            SecretBytes("pleaseletmein".utf8), salt: Array("SodiumChloride".utf8), cost: 14)
        #expect(
            try key.secret.copyBytes() == hex("7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"))
    }

    // Computed with Python's hashlib.scrypt.
    @Test(arguments: [
        ("p", "", UInt8(4), "35a3fb0fc81e24dc8c962119570c5d9829cbaac62ed285403bd1d71522bb3168"),
        ("", "salt", UInt8(10), "8356b146b42af574e460300b44136b284c796d7e73d81b1e5069b265f9da1439"),
    ])
    func emptyPasswordAndEmptySaltAreAccepted(_ password: String, salt: String, cost: UInt8, expected: String) throws {
        let key = try SymmetricKey.stretching(SecretBytes(password.utf8), salt: Array(salt.utf8), cost: cost)
        #expect(try key.secret.copyBytes() == hex(expected))
    }

    @Test func passwordSaltAndCostAllCount() throws {
        var seen: Set<[UInt8]> = []
        for (password, salt, cost) in [("a", "s", 4), ("b", "s", 4), ("a", "t", 4), ("a", "s", 5), ("", "s", 4)] {
            let key = try SymmetricKey.stretching(
                SecretBytes(password.utf8), salt: Array(salt.utf8), cost: UInt8(cost))
            #expect(seen.insert(key.secret.copyBytes()).inserted)
        }
    }

    /// A property of scrypt: HMAC pads a short key with zeros.
    @Test func trailingZeroBytesOfAShortPasswordDoNotCount() throws {
        let plain = try SymmetricKey.stretching(SecretBytes("a".utf8), salt: [1], cost: 4)
        let padded = try SymmetricKey.stretching(SecretBytes("a\0\0".utf8), salt: [1], cost: 4)
        #expect(plain.secret == padded.secret)
    }

    /// The cost is read from a file. N must be above 1, and 128 * N * r bytes within the permitted 256 MiB.
    @Test(arguments: [0, 18, 30, 62, 63, 64, 255] as [UInt8])
    func aCostOutOfRangeFailsAndDoesNotTrap(_ cost: UInt8) {
        #expect(throws: Failure(.internalFailure)) {
            try SymmetricKey.stretching(SecretBytes("p".utf8), salt: [1], cost: cost)
        }
    }
}
