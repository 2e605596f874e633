// SPDX-License-Identifier: Apache-2.0

/// Writes catalogues in the format of `msgfmt`, also such as `msgfmt` would refuse to write.
enum CompiledCatalogue {
    static let header =
        "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=(n != 1);\n"

    static func bytes(_ entries: [(String, String)], header: String = header, isBig: Bool = false) -> [UInt8] {
        let all = [("", header)] + entries
        func word(_ number: Int) -> [UInt8] {
            let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
            return isBig ? bytes.reversed() : bytes
        }
        var strings: [UInt8] = []
        var tables: [[UInt8]] = [[], []]
        let start = 28 + all.count * 16
        for (table, texts) in [all.map(\.0), all.map(\.1)].enumerated() {
            for text in texts {
                tables[table] += word(text.utf8.count) + word(start + strings.count)
                strings += Array(text.utf8) + [0]
            }
        }
        let head = [0x9504_12de, 0, all.count, 28, 28 + all.count * 8, 0, 0].flatMap(word)
        return head + tables[0] + tables[1] + strings
    }
}
