// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Strongbox {
    /// Writes `value` as JSON.
    public func encode(_ value: some Encodable, for key: String) throws {
        try set(JSONEncoder().encode(value), for: key)
    }

    /// Reads a value that `encode` wrote.
    public func decode<Value: Decodable>(_ type: Value.Type, for key: String) throws -> Value? {
        try data(for: key).map { try JSONDecoder().decode(type, from: $0) }
    }
}
