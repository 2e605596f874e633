// SPDX-License-Identifier: Apache-2.0

/// A text with numbered placeholders, `%1$s` to `%9$s`; every other percent sign is text.
///
/// The notation is that of printf(3), which translators and their tools know. The C functions are not used: a
/// placeholder has no type and no width here, and a number without a value is an error instead of a read of the stack.
package struct Template: Equatable, Sendable {
    package enum Part: Equatable, Sendable {
        case text(String)
        case argument(Int)
    }

    package let parts: [Part]

    static func placeholder(_ number: Int) -> String { "%\(number)$s" }

    package init(_ text: String) {
        var parts: [Part] = []
        var literal: [UInt8] = []
        func end() {
            if !literal.isEmpty { parts.append(.text(String(decoding: literal, as: UTF8.self))) }
            literal = []
        }
        let bytes = Array(text.utf8)
        var place = 0
        while place < bytes.count {
            let ahead = bytes[place...].prefix(4)
            if ahead.count == 4, let digit = ahead.dropFirst().first, (0x31...0x39).contains(digit),
                ahead.first == UInt8(ascii: "%"), ahead.suffix(2).elementsEqual("$s".utf8)
            {
                end()
                parts.append(.argument(Int(digit) - 0x30))
                place += 4
            } else {
                literal.append(bytes[place])
                place += 1
            }
        }
        end()
        self.parts = parts
    }

    /// The numbers of the placeholders in ascending order, each as often as it occurs.
    package var numbers: [Int] {
        parts.compactMap { part in
            if case .argument(let number) = part { number } else { nil }
        }.sorted()
    }

    /// The template with values in place of the placeholders; nil when a placeholder has none.
    package func filled(_ arguments: [String]) -> String? {
        var text = ""
        for part in parts {
            switch part {
            case .text(let literal): text += literal
            case .argument(let number):
                guard arguments.indices.contains(number - 1) else { return nil }
                text += arguments[number - 1]
            }
        }
        return text
    }
}
