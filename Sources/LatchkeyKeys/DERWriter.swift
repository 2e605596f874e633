// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// Values of DER (X.690), written in their one form.
enum DERWriter {
    /// An element of that tag around the contents, joined.
    static func element(_ tag: UInt8, _ contents: [UInt8]...) -> [UInt8] {
        let count = contents.reduce(0) { $0 + $1.count }
        return header(tag, count) + contents.joined()
    }

    /// An integer from its magnitude.
    static func integer(_ magnitude: some Collection<UInt8>) -> [UInt8] {
        let digits = magnitude.drop { $0 == 0 }
        let sign: [UInt8] = (digits.first ?? 0x80) >= 0x80 ? [0] : []
        return element(DERTag.integer, sign, Array(digits))
    }

    /// A bit string of whole bytes.
    static func bitString(_ bytes: [UInt8]) -> [UInt8] { element(DERTag.bitString, [0], bytes) }

    /// What is secret, between what is not, as one value: the parts are copied once, into memory that is wiped.
    static func secret(_ before: [UInt8], _ secret: SecretBytes, _ after: [UInt8] = []) -> SecretBytes {
        SecretBytes(count: before.count + secret.count + after.count) { target in
            target.copyBytes(from: before)
            secret.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[before.count...]).copyMemory(from: $0) }
            UnsafeMutableRawBufferPointer(rebasing: target[(before.count + secret.count)...]).copyBytes(from: after)
        }
    }

    /// Tag and length.
    static func header(_ tag: UInt8, _ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [tag, UInt8(truncatingIfNeeded: count)] }
        let length = withUnsafeBytes(of: count.bigEndian) { Array($0.drop { $0 == 0 }) }
        return [tag, 0x80 | UInt8(truncatingIfNeeded: length.count)] + length
    }
}
