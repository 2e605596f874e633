// SPDX-License-Identifier: Apache-2.0

/// A value of JSON (RFC 8259).
package enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// The text of a number, which has the syntax of one.
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

    /// A whole number without sign, fraction and exponent; nil for other values and for one that is too high.
    package var wholeNumber: Int64? {
        guard case .number(let text) = self, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }

    /// The value of a member, nil for other values than objects and for members that do not exist.
    package func member(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { JSONName($0.name) == JSONName(name) }?.value
    }

    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        left.encoded.utf8.elementsEqual(right.encoded.utf8)
    }

    /// The value as JSON text without blanks.
    package var encoded: String {
        var text: [UInt8] = []
        write(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the value as JSON text without blanks, in UTF-8.
    package func write(to text: inout [UInt8]) {
        switch self {
        case .null: text += "null".utf8
        case .bool(let value): text += value ? "true".utf8 : "false".utf8
        case .number(let number): text += number.utf8
        case .string(let string): Self.quote(string, &text)
        case .array(let values):
            text.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                value.write(to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            text.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                Self.quote(member.name, &text)
                text.append(UInt8(ascii: ":"))
                member.value.write(to: &text)
            }
            text.append(UInt8(ascii: "}"))
        }
    }

    /// Escapes quotation marks, backslashes and control characters, so that a value never ends a line of a log, and
    /// characters that have no picture, such as marks of the direction, so that a value never changes how a line reads.
    private static func quote(_ string: String, _ text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        defer { text.append(UInt8(ascii: "\"")) }
        // Almost every string has printable characters of ASCII only, which are bytes.
        if string.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x5c }) {
            text += string.utf8
            return
        }
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\"".utf8
            case "\\": text += "\\\\".utf8
            case _
            where [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory):
                for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                    let digits = String(unit, radix: 16)
                    text += "\\u".utf8
                    text += String(repeating: "0", count: max(0, 4 - digits.count)).utf8
                    text += digits.utf8
                }
            default: text += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            }
        }
    }
}
