// SPDX-License-Identifier: Apache-2.0

/// A value of JSON (RFC 8259).
package enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// The text of a number, which has the syntax of one. Requests have no numbers, so none is computed from it.
    case number(String)
    case string(String)
    case array([JSONValue])
    /// The members in their order. No name appears twice.
    case object([(name: String, value: JSONValue)])

    /// A whole number.
    package static func integer(_ number: Int64) -> JSONValue { .number(String(number)) }

    /// The text of a string, nil for other values.
    package var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The value of a member, nil for other values than objects and for members that do not exist.
    package func member(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    package static func == (left: JSONValue, right: JSONValue) -> Bool { left.encoded == right.encoded }

    /// The value as JSON text without blanks.
    package var encoded: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let text): text
        case .string(let text): Self.quoted(text)
        case .array(let values): "[" + values.map(\.encoded).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.name) + ":" + $0.value.encoded }.joined(separator: ",") + "}"
        }
    }

    /// Escapes quotation marks, backslashes and control characters, line separators included, so that a value never
    /// ends a line of a log.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
