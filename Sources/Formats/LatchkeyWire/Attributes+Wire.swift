// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension CBORWriter {
    /// A map from attribute numbers to values.
    package mutating func attributes(_ attributes: Attributes) {
        map(attributes.count)
        attributes.forEachInOrder { code, value in
            unsigned(UInt64(code.rawValue))
            attribute(value)
        }
    }

    /// One value. The reader derives its kind from the attribute.
    package mutating func attribute(_ value: AttributeValue) {
        switch value {
        case .text(let text): self.text(text)
        case .data(let data): bytes(data)
        case .number(let number), .date(let number): integer(number)
        case .boolean(let flag): boolean(flag)
        }
    }

    /// `[accessibility, constraints]`.
    package mutating func accessControl(_ control: AccessControl) { control.write(to: &self) }
}

extension CBORReader {
    /// A map from attribute numbers to values of the right kind.
    ///
    /// - Parameter areConditions: whether the attributes are those of a query, of which none may be unknown.
    package mutating func attributes(areConditions: Bool = false) throws(WireError) -> Attributes {
        var result = Attributes(minimumCapacity: 8)
        try map(limit: 64) { (reader, key) throws(WireError) in
            guard let raw = UInt8(exactly: key), let code = AttributeCode(rawValue: raw) else {
                if areConditions { throw .unknownKey(key) }
                return false
            }
            result[code] = try reader.attribute(code)
            return true
        }
        return result
    }

    /// One value of `code`.
    package mutating func attribute(_ code: AttributeCode) throws(WireError) -> AttributeValue {
        switch code.kind {
        case .number where code.storesText && isAtText, .boolean where code.storesText && isAtText:
            .text(try text(limit: Limits.attributeBytes))
        case .text where code.takesNumbers && isAtInteger, .data where code.takesNumbers && isAtInteger:
            .number(try integer())
        case .text, .data:
            if code != .accessGroup, isAtBytes {
                .data(try bytes(limit: Limits.attributeBytes))
            } else {
                .text(try text(limit: Limits.attributeBytes))
            }
        case .number: .number(try integer())
        case .boolean: .boolean(try boolean())
        case .date: .date(try integer())
        }
    }

    /// `[accessibility, constraints]`; unknown flags are refused.
    package mutating func accessControl() throws(WireError) -> AccessControl { try AccessControl(from: &self) }

    /// A value of a closed set of numbers.
    package mutating func number<T: RawRepresentable>() throws(WireError) -> T where T.RawValue: FixedWidthInteger {
        guard let raw = T.RawValue(exactly: try unsigned()), let value = T(rawValue: raw) else { throw .invalidValue }
        return value
    }

    /// 16 bytes of a context.
    package mutating func contextHandle() throws(WireError) -> ContextHandle {
        guard let handle = ContextHandle(try bytes(limit: 16)) else { throw .invalidValue }
        return handle
    }
}

/// The attributes that an item must have to match a query.
struct ConditionsShape: WireShape {
    func write(_ value: Attributes, to writer: inout CBORWriter) { writer.attributes(value) }
    func read(from reader: inout CBORReader) throws(WireError) -> Attributes {
        try reader.attributes(areConditions: true)
    }
}

extension WireShape where Self == ConditionsShape {
    static var conditions: ConditionsShape { ConditionsShape() }
}

extension AccessControl: WireTuple, WireValue {
    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(accessibility: try tuple.field(0, \.accessibility), constraints: try tuple.field(1, \.constraints))
    }
}
