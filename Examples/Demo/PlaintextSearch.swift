// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Searches files for strings in UTF-8, UTF-16, hexadecimal and base64.
struct PlaintextSearch {
    /// Every encoding of every string.
    let patterns: [[UInt8]]

    init(words: [String]) {
        patterns = words.flatMap { word in
            let utf8 = Array(word.utf8)
            let utf16 = word.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
            let utf16BigEndian = word.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
            let hex = utf8.map { String(format: "%02x", $0) }.joined()
            return [utf8, utf16, utf16BigEndian, Array(hex.utf8), Array(hex.uppercased().utf8)]
                + PlaintextSearch.base64(utf8)
        }
    }

    /// Within other data a string has three base64 encodings, which depend on its offset in a group of three bytes. The
    /// characters that also encode neighbouring bytes are left out.
    private static func base64(_ bytes: [UInt8]) -> [[UInt8]] {
        (0..<3).map { shift in
            let padded = Data([UInt8](repeating: 0, count: shift) + bytes)
            let text = padded.base64EncodedString().prefix(while: { $0 != "=" })
            let first = shift == 0 ? 0 : shift + 1
            let last = (shift + bytes.count) * 8 / 6
            return Array(Array(text.utf8)[first..<last])
        }
    }

    /// Bytes that contain every pattern, to prove that the search finds them.
    var sample: Data { Data(patterns.flatMap { $0 + [0x0a] }) }

    /// The number of patterns that occur in the files. Throws if a file does not exist.
    func finds(in files: [String]) throws -> Int {
        let contents = try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        return patterns.count { pattern in contents.contains { $0.range(of: Data(pattern)) != nil } }
    }
}
