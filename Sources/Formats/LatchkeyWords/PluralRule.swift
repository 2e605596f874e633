// SPDX-License-Identifier: Apache-2.0

/// The rule of a language for the forms of a plural, from the header of its catalogue: `nplurals=2; plural=(n != 1);`.
///
/// The rule is an expression of C in the variable n (GNU gettext manual, "Plural forms"). Arithmetic wraps, and a division
/// by zero is zero, so that no expression can end the process.
struct PluralRule: Sendable {
    private indirect enum Expression: Sendable {
        case number(UInt64)
        case variable
        case not(Expression)
        case binary(String, Expression, Expression)
        case choice(Expression, Expression, Expression)
    }

    /// Number of forms, 1 to 6.
    let count: Int
    private let expression: Expression

    /// Parses the value of the header's field; nil when it is not exactly a rule.
    init?(_ field: String) {
        let parts = field.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }.filter { !$0.isEmpty }
        guard parts.count == 2, parts[0].hasPrefix("nplurals="), parts[1].hasPrefix("plural="),
            let count = Int(parts[0].dropFirst(9)), (1...6).contains(count)
        else { return nil }
        var reader = Reader(Array(parts[1].dropFirst(7).utf8))
        guard let expression = reader.whole() else { return nil }
        self.count = count
        self.expression = expression
    }

    /// The index of the form for a number; nil when the rule names a form that does not exist.
    func form(_ number: Int) -> Int? {
        let form = Self.value(expression, UInt64(number.magnitude))
        return form < UInt64(count) ? Int(form) : nil
    }

    private static func value(_ expression: Expression, _ n: UInt64) -> UInt64 {
        switch expression {
        case .number(let number): return number
        case .variable: return n
        case .not(let inner): return value(inner, n) == 0 ? 1 : 0
        case .choice(let condition, let yes, let no): return value(value(condition, n) != 0 ? yes : no, n)
        case .binary(let sign, let left, let right):
            let (a, b) = (value(left, n), value(right, n))
            return switch sign {
            case "||": a != 0 || b != 0 ? 1 : 0
            case "&&": a != 0 && b != 0 ? 1 : 0
            case "==": a == b ? 1 : 0
            case "!=": a != b ? 1 : 0
            case "<=": a <= b ? 1 : 0
            case ">=": a >= b ? 1 : 0
            case "<": a < b ? 1 : 0
            case ">": a > b ? 1 : 0
            case "+": a &+ b
            case "-": a &- b
            case "*": a &* b
            case "/": b == 0 ? 0 : a / b
            default: b == 0 ? 0 : a % b
            }
        }
    }

    /// A parser of recursive descent with a limited depth.
    private struct Reader {
        /// Operators of equal precedence, the weakest first.
        private static let levels = [
            ["||"], ["&&"], ["==", "!="], ["<=", ">=", "<", ">"], ["+", "-"], ["*", "/", "%"],
        ]
        private static let deepest = 32
        private static let longest = 512

        private let bytes: [UInt8]
        private var place = 0
        private var depth = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        mutating func whole() -> Expression? {
            guard bytes.count <= Self.longest, let found = choice(), place == bytes.count else { return nil }
            return found
        }

        private mutating func takes(_ sign: String) -> Bool {
            guard bytes[min(place, bytes.count)...].starts(with: sign.utf8) else { return false }
            place += sign.utf8.count
            return true
        }

        private mutating func choice() -> Expression? {
            guard depth < Self.deepest else { return nil }
            depth += 1
            defer { depth -= 1 }
            guard let condition = binary(0) else { return nil }
            guard takes("?") else { return condition }
            guard let yes = choice(), takes(":"), let no = choice() else { return nil }
            return .choice(condition, yes, no)
        }

        private mutating func binary(_ level: Int) -> Expression? {
            guard level < Self.levels.count else { return unary() }
            guard var left = binary(level + 1) else { return nil }
            while let sign = Self.levels[level].first(where: { takes($0) }) {
                guard let right = binary(level + 1) else { return nil }
                left = .binary(sign, left, right)
            }
            return left
        }

        private mutating func unary() -> Expression? {
            var isNegated = false
            while takes("!") { isNegated.toggle() }
            // Two negations make 0 or 1 of a number, which no rule needs and this reader does not distinguish.
            guard let operand = primary() else { return nil }
            return isNegated ? .not(operand) : operand
        }

        private mutating func primary() -> Expression? {
            if takes("n") { return .variable }
            if takes("(") {
                guard let inner = choice(), takes(")") else { return nil }
                return inner
            }
            let digits = bytes[min(place, bytes.count)...].prefix { (0x30...0x39).contains($0) }
            place += digits.count
            return UInt64(String(decoding: digits, as: UTF8.self)).map { .number($0) }
        }
    }
}
