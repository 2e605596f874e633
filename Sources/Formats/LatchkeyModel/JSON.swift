// SPDX-License-Identifier: Apache-2.0

/// A JSON value (RFC 8259), as commands write it.
///
/// A person may read it on a terminal. So each character for which `controlsText` is true is escaped, which changes nothing
/// for a program.
package enum JSON: Sendable {
    case text(String)
    case number(Int64)
    case boolean(Bool)
    case null
    case array([JSON])
    case object([(String, JSON)])

    /// The value on one line, without a line feed.
    package var line: String {
        switch self {
        case .text(let text): JSON.quote(text)
        case .number(let number): String(number)
        case .boolean(let flag): flag ? "true" : "false"
        case .null: "null"
        case .array(let values): "[" + values.map(\.line).joined(separator: ",") + "]"
        case .object(let pairs):
            "{" + pairs.map { JSON.quote($0.0) + ":" + $0.1.line }.joined(separator: ",") + "}"
        }
    }

    private static func quote(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.controlsText:
                // Above U+FFFF two escapes, a surrogate pair.
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
