// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Bytes of the longest digest that is signed.
private let digestBytes = 64
/// Bytes of an uncompressed point of P-256.
private let pointBytes = 65

extension Request.CreateEnclaveKey: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            attributes: try map.field(0, \.attributes),
            accessControl: try map.field(1, \.accessControl),
            isPermanent: try map.field(2, \.isPermanent),
            authentication: try map.field(3, \.authentication))
    }
}

extension Request.UseEnclaveKey: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            name: try map.field(0, \.name),
            operation: try map.field(1, \.operation),
            authentication: try map.field(2, \.authentication),
            for: try map.optional(3, \.process))
    }
}

extension EnclaveKey: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            name: try map.field(0, \.name),
            publicKey: try map.field(1, \.publicKey, .bytes(limit: pointBytes)),
            attributes: try map.field(2, \.attributes),
            accessControl: try map.field(3, \.accessControl))
    }
}

extension EnclaveKeyName: WireValue {
    package func write(to writer: inout CBORWriter) {
        switch self {
        case .stored(let reference): writer.message(0, reference, .bytes(limit: referenceBytes))
        case .detached(let key): writer.message(1, key, .bytes(limit: Limits.detachedKeyBytes))
        }
    }

    package init(from reader: inout CBORReader) throws(WireError) {
        self = try reader.message { (reader, kind) throws(WireError) -> EnclaveKeyName in
            switch kind {
            case 0: .stored(try reader.value(.bytes(limit: referenceBytes)))
            case 1: .detached(try reader.value(.bytes(limit: Limits.detachedKeyBytes)))
            default: throw .invalidValue
            }
        }
    }
}

extension EnclaveOperation: WireValue {
    package func write(to writer: inout CBORWriter) {
        switch self {
        case .sign(let digest): writer.message(0, digest, .bytes(limit: digestBytes))
        case .agree(let point): writer.message(1, point, .bytes(limit: pointBytes))
        }
    }

    package init(from reader: inout CBORReader) throws(WireError) {
        self = try reader.message { (reader, kind) throws(WireError) -> EnclaveOperation in
            switch kind {
            case 0: .sign(digest: try reader.value(.bytes(limit: digestBytes)))
            case 1: .agree(point: try reader.value(.bytes(limit: pointBytes)))
            default: throw .invalidValue
            }
        }
    }
}
