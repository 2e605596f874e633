// SPDX-License-Identifier: Apache-2.0

/// Tags of DER (X.690, section 8) that keys are written with.
enum DERTag {
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let null: UInt8 = 0x05
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30
    static let context0: UInt8 = 0xa0
    static let context1: UInt8 = 0xa1
    /// `[1] IMPLICIT BIT STRING` of RFC 5958.
    static let primitive1: UInt8 = 0x81
}

/// Reads DER strictly: each value has one form only, and any other is refused with nil.
///
/// It borrows the bytes, which may be secret, and copies none of them.
struct DERReader {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    /// The tag of the next element.
    var tag: UInt8? { rest.first }

    /// The contents of the next element, which has to bear that tag.
    mutating func element(_ tag: UInt8) -> UnsafeRawBufferPointer? {
        guard rest.count >= 2, rest[0] == tag else { return nil }
        var length = Int(rest[1])
        var header = 2
        if length >= 0x80 {
            // Three bytes of length are 16 MiB; no key is that long, and the sum cannot overflow.
            let lengthBytes = length & 0x7f
            guard (1...3).contains(lengthBytes), rest.count >= 2 + lengthBytes else { return nil }
            header += lengthBytes
            length = 0
            for byte in rest[2..<header] { length = length << 8 | Int(byte) }
            // The shortest form is the only one.
            guard length >= 0x80, rest[2] != 0 else { return nil }
        }
        guard rest.count - header >= length else { return nil }
        let contents = UnsafeRawBufferPointer(rebasing: rest[header..<header + length])
        rest = UnsafeRawBufferPointer(rebasing: rest[(header + length)...])
        return contents
    }

    /// Reads a sequence to its end.
    mutating func sequence<R>(_ body: (inout DERReader) -> R?) -> R? {
        guard let contents = element(DERTag.sequence) else { return nil }
        var reader = DERReader(contents)
        guard let result = body(&reader), reader.isAtEnd else { return nil }
        return result
    }

    /// The magnitude of an integer that is not negative, without a leading zero; empty for 0.
    mutating func unsignedInteger() -> UnsafeRawBufferPointer? {
        guard let contents = element(DERTag.integer), let first = contents.first, first < 0x80 else { return nil }
        guard first == 0 else { return contents }
        guard contents.count > 1 else { return UnsafeRawBufferPointer(rebasing: contents[1...]) }
        return contents[1] >= 0x80 ? UnsafeRawBufferPointer(rebasing: contents[1...]) : nil
    }

    /// A bit string of whole bytes.
    mutating func bitString(_ tag: UInt8 = DERTag.bitString) -> UnsafeRawBufferPointer? {
        guard let contents = element(tag), contents.first == 0 else { return nil }
        return UnsafeRawBufferPointer(rebasing: contents[1...])
    }

    /// Skips NULL.
    mutating func null() -> Bool { element(DERTag.null)?.isEmpty ?? false }
}
