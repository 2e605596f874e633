// SPDX-License-Identifier: Apache-2.0

/// Splits a byte stream into lines, and each line into fields at its tabs.
struct LineReader {
    private var rest: [UInt8] = []
    private let limit: Int

    /// - Parameter limit: maximum bytes of a line; the rest of a longer line is dropped.
    init(limit: Int) { self.limit = limit }

    /// The lines that are complete with these bytes.
    mutating func lines(after bytes: [UInt8]) -> [[String]] {
        var lines: [[String]] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                lines.append(
                    rest.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map {
                        String(decoding: $0, as: UTF8.self)
                    })
                rest = []
            } else if rest.count < limit {
                rest.append(byte)
            }
        }
        return lines
    }
}
