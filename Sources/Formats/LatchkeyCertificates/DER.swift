// SPDX-License-Identifier: Apache-2.0

/// One DER element (X.690, section 10): a tag of one byte, a length in its shortest form, and the contents.
///
/// Multi-byte tags, which certificates and names do not use, are rejected like any encoding that is not DER.
struct DERElement {
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    static let printableString: UInt8 = 0x13

    /// Maximum depth of nested constructed elements, the same as libcrypto's.
    static let nesting = 30

    let tag: UInt8
    let contents: ArraySlice<UInt8>

    var isConstructed: Bool { tag & 0x20 != 0 }

    /// Reads one element and removes it from the front of `bytes`. On failure, returns nil and leaves `bytes`
    /// unchanged.
    init?(readingFrom bytes: inout ArraySlice<UInt8>) {
        var rest = bytes
        guard let tag = rest.popFirst(), tag & 0x1f != 0x1f, let first = rest.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            // Four length bytes cover more than any input limit. 0x80 is the indefinite length of BER, invalid in DER.
            guard (0x81...0x84).contains(first) else { return nil }
            length = 0
            for _ in 0..<(first & 0x7f) {
                guard let byte = rest.popFirst(), length > 0 || byte > 0 else { return nil }
                length = length << 8 | Int(byte)
            }
            guard length >= 0x80 else { return nil }
        }
        guard length <= rest.count else { return nil }
        self.tag = tag
        contents = rest.prefix(length)
        bytes = rest.dropFirst(length)
    }

    /// The elements inside a constructed element; nil when it is primitive or its contents are malformed.
    var elements: [DERElement]? {
        guard isConstructed else { return nil }
        var rest = contents
        var elements: [DERElement] = []
        while !rest.isEmpty {
            guard let element = DERElement(readingFrom: &rest) else { return nil }
            elements.append(element)
        }
        return elements
    }

    /// Whether `bytes` are exactly one well-formed element at every level; contents of octet and bit strings are not
    /// checked.
    ///
    /// libcrypto also accepts BER, in which one certificate has several encodings, so that comparing bytes would fail.
    static func isExactlyOne(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        guard let element = DERElement(readingFrom: &rest), rest.isEmpty else { return false }
        return element.isWellFormed(depth: 0)
    }

    private func isWellFormed(depth: Int) -> Bool {
        guard isConstructed else { return true }
        guard depth < Self.nesting else { return false }
        var rest = contents
        while !rest.isEmpty {
            guard let element = DERElement(readingFrom: &rest), element.isWellFormed(depth: depth + 1) else {
                return false
            }
        }
        return true
    }

    /// Encodes an element with its length in the shortest form.
    static func encoded(_ tag: UInt8, _ contents: some Collection<UInt8>) -> [UInt8] {
        var header = [tag]
        let count = contents.count
        if count < 0x80 {
            header.append(UInt8(count))
        } else {
            var length: [UInt8] = []
            var rest = count
            while rest > 0 {
                length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
                rest >>= 8
            }
            header.append(0x80 | UInt8(length.count))
            header += length
        }
        return header + contents
    }
}
