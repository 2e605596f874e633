// SPDX-License-Identifier: Apache-2.0

/// Reads JSON (RFC 8259) strictly: duplicate names, invalid UTF-8, lone surrogates, a byte order mark and trailing
/// bytes are refused, because two readers that differ there would read two requests out of one text.
package struct JSONReader {
    /// Why a text is refused.
    package enum Failure: Error, Equatable, Sendable {
        case malformed
        case duplicateName
        case tooDeep
        case tooMany
    }

    /// Maximum nesting of objects and arrays: reading is recursive, and the stack is finite.
    package static let depthLimit = 8
    /// The most values in one text; finding duplicate names takes the square of their number.
    package static let valueLimit = 256

    private let bytes: [UInt8]
    private var position = 0
    private var valueCount = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads one value, which is the whole text.
    package static func read(_ bytes: [UInt8]) throws(Failure) -> JSONValue {
        var reader = JSONReader(bytes)
        reader.skipBlanks()
        let value = try reader.value(depth: 0)
        reader.skipBlanks()
        guard reader.position == bytes.count else { throw .malformed }
        return value
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard let next, UInt32(next) == byte.value else { return false }
        position += 1
        return true
    }

    private mutating func skipBlanks() {
        while let next, next == 0x20 || next == 0x0a || next == 0x0d || next == 0x09 { position += 1 }
    }

    private mutating func value(depth: Int) throws(Failure) -> JSONValue {
        guard depth < Self.depthLimit else { throw .tooDeep }
        guard valueCount < Self.valueLimit else { throw .tooMany }
        valueCount += 1
        switch next {
        case UInt8(ascii: "{"): return try object(depth)
        case UInt8(ascii: "["): return try array(depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(Failure) -> JSONValue {
        for byte in "\(text)".unicodeScalars {
            guard take(byte) else { throw .malformed }
        }
        return value
    }

    private mutating func object(_ depth: Int) throws(Failure) -> JSONValue {
        position += 1
        var members: [(name: String, value: JSONValue)] = []
        skipBlanks()
        if take("}") { return .object([]) }
        repeat {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw .malformed }
            let name = try string()
            guard !members.contains(where: { JSONName($0.name) == JSONName(name) }) else {
                throw .duplicateName
            }
            skipBlanks()
            guard take(":") else { throw .malformed }
            skipBlanks()
            members.append((name, try value(depth: depth + 1)))
            skipBlanks()
        } while take(",")
        guard take("}") else { throw .malformed }
        return .object(members)
    }

    private mutating func array(_ depth: Int) throws(Failure) -> JSONValue {
        position += 1
        var values: [JSONValue] = []
        skipBlanks()
        if take("]") { return .array([]) }
        repeat {
            skipBlanks()
            values.append(try value(depth: depth + 1))
            skipBlanks()
        } while take(",")
        guard take("]") else { throw .malformed }
        return .array(values)
    }

    private mutating func number() throws(Failure) -> String {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(Failure) {
        let start = position
        while let next, next >= 0x30, next <= 0x39 { position += 1 }
        guard position > start else { throw .malformed }
    }

    private mutating func string() throws(Failure) -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else { throw .malformed }
                return string
            case UInt8(ascii: "\\"): text.append(contentsOf: try escape().utf8)
            case 0..<0x20: throw .malformed
            default: text.append(byte)
            }
        }
        throw .malformed
    }

    private mutating func escape() throws(Failure) -> String {
        guard let byte = next else { throw .malformed }
        position += 1
        switch byte {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return String(Character(try scalar()))
        default: throw .malformed
        }
    }

    private mutating func scalar() throws(Failure) -> Unicode.Scalar {
        let first = try unit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        // A high surrogate, which only a low one can follow; a low one at first place is refused too.
        guard first < 0xdc00, take("\\"), take("u") else { throw .malformed }
        let second = try unit()
        guard (0xdc00...0xdfff).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
        else { throw .malformed }
        return scalar
    }

    private mutating func unit() throws(Failure) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw .malformed }
            position += 1
            unit = unit << 4 | UInt32(truncatingIfNeeded: digit)
        }
        return unit
    }
}
