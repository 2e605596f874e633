// SPDX-License-Identifier: Apache-2.0

/// A strict codec of Base64 (RFC 4648, sections 4 and 5): every byte sequence has exactly one accepted text.
package struct Base64: Sendable {
    /// Base64 with `+` and `/`, padded.
    package static let standard = Base64(last: "+/", isPadded: true)
    /// base64url with `-` and `_`, not padded, as in JSON Web Keys (RFC 7515, section 2).
    package static let url = Base64(last: "-_", isPadded: false)

    private let digits: [UInt8]
    /// The value of each byte as a Base64 digit, 0 to 63; 64 for a byte that is not a digit.
    private let values: [UInt8]
    private let isPadded: Bool
    private static let padding = UInt8(ascii: "=")

    private init(last: String, isPadded: Bool) {
        digits = Array(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last).utf8)
        var values = [UInt8](repeating: 64, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(truncatingIfNeeded: value) }
        self.values = values
        self.isPadded = isPadded
    }

    /// Encodes bytes as text without line breaks.
    package func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var pending: UInt32 = 0
        var bitCount: UInt32 = 0
        for byte in bytes {
            // At most 4 bits are pending here, so 12 bits suffice.
            pending = (pending << 8 | UInt32(byte)) & 0xfff
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(digits[Int(pending >> bitCount & 63)])
            }
        }
        if bitCount > 0 { text.append(digits[Int(pending << (6 - bitCount) & 63)]) }
        while isPadded, !text.count.isMultiple(of: 4) { text.append(Base64.padding) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes ASCII text; nil when it contains any other character, including blanks, or its unused last bits are not
    /// zero.
    package func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var body = Array(text)
        if isPadded {
            guard body.count.isMultiple(of: 4) else { return nil }
            for _ in 0..<2 where body.last == Base64.padding { body.removeLast() }
        }
        guard body.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(body.count / 4 * 3 + 2)
        var pending: UInt32 = 0
        var bitCount: UInt32 = 0
        for digit in body {
            let value = values[Int(digit)]
            guard value < 64 else { return nil }
            pending = (pending << 6 | UInt32(value)) & 0xfff
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: pending >> bitCount))
        }
        guard pending & (1 << bitCount - 1) == 0 else { return nil }
        return bytes
    }
}
