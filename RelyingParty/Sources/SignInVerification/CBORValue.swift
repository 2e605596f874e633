// SPDX-License-Identifier: Apache-2.0

/// A value of CBOR (RFC 8949), of the kinds that authenticators send.
package enum CBORValue: Equatable, Sendable {
    /// An entry of a map.
    package struct Entry: Equatable, Sendable {
        package let key: CBORValue
        package let value: CBORValue
    }

    /// A whole number, also a negative one.
    case integer(Int64)
    case bytes([UInt8])
    case text(String)
    case array([CBORValue])
    /// The entries in their order, which is the canonical one. No key appears twice, and keys are numbers or texts.
    case map([Entry])
    case bool(Bool)
    case null

    package var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    package var text: String? { if case .text(let text) = self { text } else { nil } }
    package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    package var array: [CBORValue]? { if case .array(let values) = self { values } else { nil } }
    /// The number of entries of a map; nil for other values.
    package var entryCount: Int? { if case .map(let entries) = self { entries.count } else { nil } }

    /// The value of a key, nil for other values than maps and for keys that do not exist.
    package subscript(_ key: CBORValue) -> CBORValue? {
        guard case .map(let entries) = self else { return nil }
        return entries.first { $0.key == key }?.value
    }
}
