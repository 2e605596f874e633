// SPDX-License-Identifier: Apache-2.0

/// X.501 names in DER: a SEQUENCE of SETs of attributes, each a type and a value.
package enum DistinguishedName {
    /// Returns the name in the form in which Apple's systems compare names.
    ///
    /// In values of type PrintableString, blanks (spaces and tabs) at both ends are removed, runs of blanks inside are
    /// replaced by one space, and `a` to `z` by `A` to `Z` (RFC 3280, section 4.1.2.4, c and d). Values of other types,
    /// the attribute types and the order of attributes do not change.
    ///
    /// - Parameter name: a DER SEQUENCE.
    /// - Returns: a DER SEQUENCE; nil when `name` is malformed.
    package static func normalized(_ name: [UInt8]) -> [UInt8]? {
        var rest = name[...]
        guard let sequence = DERElement(readingFrom: &rest), rest.isEmpty, sequence.tag == DERElement.sequence,
            let sets = sequence.elements
        else { return nil }
        var contents: [UInt8] = []
        for set in sets {
            // X.501 does not allow an empty SET.
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

    /// The contents of a name's SEQUENCE; empty when it is malformed.
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
