// SPDX-License-Identifier: Apache-2.0

import Testing

/// Decodes hexadecimal digits; spaces are ignored.
package func hex(_ text: some StringProtocol) throws -> [UInt8] {
    let digits = try text.filter { $0 != " " }.map { try #require($0.hexDigitValue.flatMap(UInt8.init(exactly:))) }
    try #require(digits.count.isMultiple(of: 2))
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// Bytes as hexadecimal digits.
package func digits(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { byte in
        let text = String(byte, radix: 16)
        return text.count == 1 ? "0" + text : text
    }.joined()
}
