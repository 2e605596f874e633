// SPDX-License-Identifier: Apache-2.0

/// Hexadecimal text with two digits for each byte.
package enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// The text of these bytes.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The bytes of a text; nil if it is not hexadecimal.
    package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text {
            guard character < 0x80,
                let digit = Character(Unicode.Scalar(character)).hexDigitValue.flatMap(UInt8.init(exactly:))
            else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }
}
