// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// Encodes values in DER (X.690).
enum DERWriter {
    /// Encodes an element with the given tag; its contents are the given parts, concatenated.
    static func element(_ tag: UInt8, _ contents: [UInt8]...) -> [UInt8] {
        let count = contents.reduce(0) { $0 + $1.count }
        return header(tag, count) + contents.joined()
    }

    /// Encodes a non-negative INTEGER from its big-endian magnitude, which may have leading zeros.
    static func integer(_ magnitude: some Collection<UInt8>) -> [UInt8] {
        let digits = magnitude.drop { $0 == 0 }
        let sign: [UInt8] = (digits.first ?? 0x80) >= 0x80 ? [0] : []
        return element(DERTag.integer, sign, Array(digits))
    }

    /// Encodes a BIT STRING without unused bits.
    static func bitString(_ bytes: [UInt8]) -> [UInt8] { element(DERTag.bitString, [0], bytes) }

    /// Concatenates public bytes, a secret and public bytes directly into wiped memory, so that no other copy is made.
    static func secret(_ before: [UInt8], _ secret: SecretBytes, _ after: [UInt8] = []) -> SecretBytes {
        SecretBytes(count: before.count + secret.count + after.count) { target in
            target.copyBytes(from: before)
            secret.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[before.count...]).copyMemory(from: $0) }
            UnsafeMutableRawBufferPointer(rebasing: target[(before.count + secret.count)...]).copyBytes(from: after)
        }
    }

    /// Encodes the tag and the length of an element with `count` bytes of contents.
    static func header(_ tag: UInt8, _ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [tag, UInt8(truncatingIfNeeded: count)] }
        let length = withUnsafeBytes(of: count.bigEndian) { Array($0.drop { $0 == 0 }) }
        return [tag, 0x80 | UInt8(truncatingIfNeeded: length.count)] + length
    }
}
