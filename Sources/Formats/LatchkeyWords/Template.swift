// SPDX-License-Identifier: Apache-2.0

/// A text with numbered placeholders, `%1$s` to `%9$s`; every other percent sign is text.
///
/// The notation is that of printf(3), which translators and their tools know. The C functions are not used: a
/// placeholder has no type and no width here, and a number without a value is an error instead of a read of the stack.
struct Template: Equatable, Sendable {
    enum Part: Equatable, Sendable {
        case text(String)
        case argument(Int)
    }

    let parts: [Part]

    static func placeholder(_ number: Int) -> String { "%\(number)$s" }

    init(_ text: String) {
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
    var numbers: [Int] {
        parts.compactMap { part in
            if case .argument(let number) = part { number } else { nil }
        }.sorted()
    }

    /// The template with values in place of the placeholders; nil when a placeholder has none.
    func filled(_ arguments: [String]) -> String? {
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

    /// The number of bytes of its text.
    var literalBytes: Int {
        parts.reduce(0) { count, part in
            if case .text(let text) = part { count + text.utf8.count } else { count }
        }
    }

    /// The values with which this template makes `text`, each as short as possible; nil when it cannot make it, or when
    /// two placeholders have no text between them.
    func values(in text: String) -> [String]? {
        var rest = Array(text.utf8)[...]
        var values: [Int: String] = [:]
        var waiting: Int?
        for (place, part) in parts.enumerated() {
            switch part {
            case .argument(let number):
                guard waiting == nil, values[number] == nil else { return nil }
                waiting = number
            case .text(let literal):
                let bytes = Array(literal.utf8)
                guard let number = waiting else {
                    guard rest.starts(with: bytes) else { return nil }
                    rest = rest.dropFirst(bytes.count)
                    continue
                }
                // The last text of the template ends the text; another one ends at its first occurrence.
                let isLast = place == parts.count - 1
                let found = isLast ? Self.suffix(bytes, of: rest) : Self.first(bytes, in: rest)
                guard let found else { return nil }
                values[number] = String(decoding: rest[..<found], as: UTF8.self)
                rest = rest[(found + bytes.count)...]
                waiting = nil
            }
        }
        if let waiting {
            values[waiting] = String(decoding: rest, as: UTF8.self)
        } else if !rest.isEmpty {
            return nil
        }
        let ordered = (1...max(1, values.count)).compactMap { values[$0] }
        return ordered.count == values.count && values.values.allSatisfy { !$0.isEmpty } ? ordered : nil
    }

    private static func suffix(_ bytes: [UInt8], of text: ArraySlice<UInt8>) -> Int? {
        guard text.count >= bytes.count, text.suffix(bytes.count).elementsEqual(bytes) else { return nil }
        return text.endIndex - bytes.count
    }

    private static func first(_ bytes: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
        guard text.count >= bytes.count else { return nil }
        return (text.startIndex...(text.endIndex - bytes.count)).first { text[$0...].starts(with: bytes) }
    }
}
