// SPDX-License-Identifier: Apache-2.0

/// A name of X.501 as DER: a sequence of sets of pairs of a type and a value.
package enum DistinguishedName {
    /// The name as Apple's systems compare it, or nil for bytes that are no name.
    ///
    /// Values that are printable strings lose blanks (spaces and tabs) at both ends, each row of blanks inside becomes
    /// one space, and `a` to `z` become `A` to `Z` (RFC 3280, section 4.1.2.4, c and d). Values of any other string
    /// type stay as they are, byte by byte, as do the order of pairs and the types; lengths are written anew.
    ///
    /// - Parameter name: a DER SEQUENCE.
    package static func normalized(_ name: [UInt8]) -> [UInt8]? {
        var rest = name[...]
        guard let sequence = DERElement(readingFrom: &rest), rest.isEmpty, sequence.tag == DERElement.sequence,
            let sets = sequence.elements
        else { return nil }
        var contents: [UInt8] = []
        for set in sets {
            // An empty set says nothing, and X.501 has none.
            guard set.tag == DERElement.set, let pairs = set.elements, !pairs.isEmpty else { return nil }
            var members: [UInt8] = []
            for pair in pairs {
                guard let normal = normalized(pair: pair) else { return nil }
                members += normal
            }
            contents += DERElement.encoded(DERElement.set, members)
        }
        return DERElement.encoded(DERElement.sequence, contents)
    }

    /// What is in the SEQUENCE of a name; nothing for bytes that are none.
    static func contents(of name: [UInt8]) -> ArraySlice<UInt8> {
        var rest = name[...]
        return DERElement(readingFrom: &rest)?.contents ?? []
    }

    private static func normalized(pair: DERElement) -> [UInt8]? {
        guard pair.tag == DERElement.sequence, let parts = pair.elements, parts.count == 2 else { return nil }
        let (type, value) = (parts[0], parts[1])
        guard type.tag == 0x06, !type.contents.isEmpty else { return nil }
        let isPrintable = value.tag == DERElement.printableString
        let bytes = isPrintable ? folded(value.contents) : Array(value.contents)
        return DERElement.encoded(
            DERElement.sequence,
            DERElement.encoded(type.tag, type.contents) + DERElement.encoded(value.tag, bytes))
    }

    private static func folded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let words = text.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return Array(words.joined(separator: [UInt8(ascii: " ")])).map { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 0x20 : byte
        }
    }
}
