// SPDX-License-Identifier: Apache-2.0

/// A code that permits its user to register one key: 16 digits of Crockford's Base32, 80 random bits. It is found by itself,
/// so that wrong ones cost its user nothing, and too long to be found by trying.
struct EnrolmentCode: Sendable {
    static let digitCount = 16
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// The digits in upper case.
    let digits: [UInt8]

    /// - Parameter random: 16 unpredictable bytes.
    init(random: [UInt8]) { digits = random.prefix(Self.digitCount).map { Self.alphabet[Int($0 & 31)] } }

    /// Reads what a person typed: in any case, with hyphens and blanks between digits, `O` for `0`, and `I` and `L` for `1`;
    /// nil for anything else.
    init?(typed: String) {
        guard typed.utf8.count <= 64 else { return nil }
        var digits: [UInt8] = []
        for byte in typed.utf8 where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
            let upper = (0x61...0x7a).contains(byte) ? byte - 0x20 : byte
            let digit: UInt8 =
                switch upper {
                case UInt8(ascii: "O"): UInt8(ascii: "0")
                case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
                default: upper
                }
            guard Self.alphabet.contains(digit) else { return nil }
            digits.append(digit)
        }
        guard digits.count == Self.digitCount else { return nil }
        self.digits = digits
    }

    /// What is shown to the user: four groups of four digits.
    var text: String {
        stride(from: 0, to: digits.count, by: 4).map { start in
            String(decoding: digits[start..<min(start + 4, digits.count)], as: UTF8.self)
        }.joined(separator: "-")
    }
}
