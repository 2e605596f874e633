// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Looks for words in files, in the forms in which a careless program would have written them.
struct PlaintextSearch {
    /// Every form of every word.
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

    /// In the middle of other data a word has three forms, by its place in a group of three bytes; the characters that
    /// depend on the neighbours are left out.
    private static func base64(_ bytes: [UInt8]) -> [[UInt8]] {
        (0..<3).map { shift in
            let padded = Data([UInt8](repeating: 0, count: shift) + bytes)
            let text = padded.base64EncodedString().prefix(while: { $0 != "=" })
            let first = shift == 0 ? 0 : shift + 1
            let last = (shift + bytes.count) * 8 / 6
            return Array(Array(text.utf8)[first..<last])
        }
    }

    /// Bytes that hold every pattern: what proves that the search can find something.
    var sample: Data { Data(patterns.flatMap { $0 + [0x0a] }) }

    /// How many patterns are somewhere in the files. A file that is not there is an error.
    func finds(in files: [String]) throws -> Int {
        let contents = try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        return patterns.count { pattern in contents.contains { $0.range(of: Data(pattern)) != nil } }
    }
}
