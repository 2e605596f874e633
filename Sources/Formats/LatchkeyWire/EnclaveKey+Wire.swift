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
            authentication: try map.field(2, \.authentication))
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

extension EnclaveKeyName: WireTuple, WireValue {
    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        switch try tuple.field(0, \.kind) {
        case .stored: .stored(try tuple.field(1, \.bytes, .bytes(limit: referenceBytes)))
        case .detached: .detached(try tuple.field(1, \.bytes, .bytes(limit: Limits.detachedKeyBytes)))
        }
    }

    private enum Kind: UInt8, ClosedSet {
        case stored = 0
        case detached = 1
    }

    private var kind: Kind {
        switch self {
        case .stored: .stored
        case .detached: .detached
        }
    }

    private var bytes: [UInt8] {
        switch self {
        case .stored(let bytes), .detached(let bytes): bytes
        }
    }
}

extension EnclaveOperation: WireTuple, WireValue {
    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        switch try tuple.field(0, \.kind) {
        case .sign: .sign(digest: try tuple.field(1, \.bytes, .bytes(limit: digestBytes)))
        case .agree: .agree(point: try tuple.field(1, \.bytes, .bytes(limit: pointBytes)))
        }
    }

    private enum Kind: UInt8, ClosedSet {
        case sign = 0
        case agree = 1
    }

    private var kind: Kind {
        switch self {
        case .sign: .sign
        case .agree: .agree
        }
    }

    private var bytes: [UInt8] {
        switch self {
        case .sign(let bytes), .agree(let bytes): bytes
        }
    }
}
