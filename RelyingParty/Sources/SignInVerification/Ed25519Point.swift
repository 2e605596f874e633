// SPDX-License-Identifier: Apache-2.0

/// Public keys of Ed25519 (RFC 8032).
enum Ed25519Point {
    /// Everything before the key in a SubjectPublicKeyInfo (RFC 8410, section 4).
    static let prefix: [UInt8] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]

    /// Whether 32 bytes can be a key: y is below the prime, and the point is not of small order, for which anyone can make
    /// signatures. libcrypto decompresses the point when it verifies, and refuses one that is not on the curve.
    static func isKey(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 32 else { return false }
        // The highest bit is the sign of x.
        let y = Array(bytes[..<31]) + [bytes[31] & 0x7f]
        return y.reversed().lexicographicallyPrecedes(prime.reversed()) && !smallOrder.contains(y)
    }

    /// 2^255 - 19, little-endian.
    private static let prime: [UInt8] = [0xed] + [UInt8](repeating: 0xff, count: 30) + [0x7f]

    /// The y of the eight points whose order divides 8, little-endian: 0, 1, -1 and the two of order 8.
    private static let smallOrder: [[UInt8]] = [
        [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31),
        [0xec] + [UInt8](repeating: 0xff, count: 30) + [0x7f],
        [
            0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf,
            0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
        ],
        [
            0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20,
            0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
        ],
    ]
}
