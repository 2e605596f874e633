// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// The DER tags (X.690, section 8) that encodings of keys use.
enum DERTag {
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let null: UInt8 = 0x05
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30
    static let context0: UInt8 = 0xa0
    static let context1: UInt8 = 0xa1
    /// `[1] IMPLICIT BIT STRING`, the public key in RFC 5958, section 2.
    static let primitive1: UInt8 = 0x81
}

/// A strict DER reader: accepts only the one valid encoding of each value; every method returns nil for any other.
///
/// Borrows the bytes, which may be secret, and does not copy them; the caller must keep them alive.
struct DERReader {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    var tag: UInt8? { rest.first }

    /// Reads the next element and returns its contents; nil unless it has the given tag and a valid length.
    mutating func element(_ tag: UInt8) -> UnsafeRawBufferPointer? {
        guard rest.count >= 2, rest[0] == tag else { return nil }
        var length = Int(rest[1])
        var header = 2
        if length >= 0x80 {
            // Three length bytes allow 16 MiB, more than any key needs, and the sum below cannot overflow.
            let lengthBytes = length & 0x7f
            guard (1...3).contains(lengthBytes), rest.count >= 2 + lengthBytes else { return nil }
            header += lengthBytes
            length = 0
            for byte in rest[2..<header] { length = length << 8 | Int(byte) }
            // DER requires the shortest form of a length (X.690, section 10.1).
            guard length >= 0x80, rest[2] != 0 else { return nil }
        }
        guard rest.count - header >= length else { return nil }
        let contents = UnsafeRawBufferPointer(rebasing: rest[header..<header + length])
        rest = UnsafeRawBufferPointer(rebasing: rest[(header + length)...])
        return contents
    }

    /// Reads a SEQUENCE with `body`; nil unless `body` succeeds and consumes all of its contents.
    mutating func sequence<R>(_ body: (inout DERReader) -> R?) -> R? {
        guard let contents = element(DERTag.sequence) else { return nil }
        var reader = DERReader(contents)
        guard let result = body(&reader), reader.isAtEnd else { return nil }
        return result
    }

    /// Reads a non-negative INTEGER and returns its magnitude, big-endian without leading zeros; empty for 0.
    mutating func unsignedInteger() -> UnsafeRawBufferPointer? {
        guard let contents = element(DERTag.integer), let first = contents.first, first < 0x80 else { return nil }
        guard first == 0 else { return contents }
        guard contents.count > 1 else { return UnsafeRawBufferPointer(rebasing: contents[1...]) }
        return contents[1] >= 0x80 ? UnsafeRawBufferPointer(rebasing: contents[1...]) : nil
    }

    /// Reads a BIT STRING without unused bits and returns its bytes.
    mutating func bitString(_ tag: UInt8 = DERTag.bitString) -> UnsafeRawBufferPointer? {
        guard let contents = element(tag), contents.first == 0 else { return nil }
        return UnsafeRawBufferPointer(rebasing: contents[1...])
    }

    /// Reads a NULL; false when the next element is anything else.
    mutating func null() -> Bool { element(DERTag.null)?.isEmpty ?? false }
}

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
