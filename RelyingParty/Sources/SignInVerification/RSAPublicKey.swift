// SPDX-License-Identifier: Apache-2.0

/// RSA public keys (RFC 8017), whose encoding in DER is unique.
enum RSAPublicKey {
    /// The sizes of the modulus in bits: less is weak, and more lets a client occupy the server with its signatures.
    static let bits = 2048...4096
    /// The public exponent, 65,537, which every authenticator uses. Small ones have a history of forged signatures.
    static let exponent: [UInt8] = [1, 0, 1]

    /// `AlgorithmIdentifier` of rsaEncryption with NULL (RFC 3279, section 2.3.1).
    private static let algorithm: [UInt8] = [
        0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]

    /// The SubjectPublicKeyInfo of a key; nil for a modulus that is even, has a leading zero, or has another size.
    ///
    /// - Parameter modulus: big-endian, without leading zeros (RFC 8230, section 4).
    static func information(modulus: [UInt8]) -> [UInt8]? {
        guard let first = modulus.first, first > 0, let last = modulus.last, last & 1 == 1,
            bits.contains(modulus.count * 8 - first.leadingZeroBitCount)
        else { return nil }
        let sign: [UInt8] = first < 0x80 ? [] : [0]
        let numbers = element(0x02, sign + modulus) + [0x02, 0x03] + exponent
        return element(0x30, algorithm + element(0x03, [0] + element(0x30, numbers)))
    }

    /// Whether bytes are the SubjectPublicKeyInfo of an accepted key.
    static func isKey(_ information: [UInt8]) -> Bool {
        // Every length has two bytes, so the modulus has one place, and the rest is compared by encoding it again.
        guard information.count > 37 else { return false }
        let number = information[32..<(information.count - 5)]
        return Self.information(modulus: Array(number.first == 0 ? number.dropFirst() : number)) == information
    }

    /// An element whose length has two bytes, as all of these have.
    private static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        [tag, 0x82, UInt8(truncatingIfNeeded: contents.count >> 8), UInt8(truncatingIfNeeded: contents.count)]
            + contents
    }
}
