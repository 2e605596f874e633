// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// Bytes of the longest hash of an enrolment set.
private let hashBytes = 64

extension EnvironmentReport: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            biometry: try map.field(0, \.biometry),
            isEnrolled: try map.field(1, \.isEnrolled),
            isLockedOut: try map.field(2, \.isLockedOut),
            isBiometryUsable: try map.field(3, \.isBiometryUsable),
            biometryHash: try map.optional(4, \.biometryHash, .bytes(limit: hashBytes)),
            isPasscodeSet: try map.field(5, \.isPasscodeSet),
            isCompanionUsable: try map.field(6, \.isCompanionUsable),
            companions: try map.field(7, \.companions, CompanionHashes()),
            revision: try map.field(8, \.revision))
    }
}

/// A map from the numbers of companion types to hashes.
private struct CompanionHashes: WireShape {
    func write(_ value: [CompanionType: [UInt8]], to writer: inout CBORWriter) {
        writer.map(value.count)
        for (type, hash) in value.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            writer.unsigned(UInt64(type.rawValue))
            writer.bytes(hash)
        }
    }

    func read(from reader: inout CBORReader) throws(WireError) -> [CompanionType: [UInt8]] {
        var companions: [CompanionType: [UInt8]] = [:]
        try reader.map { (reader, key) throws(WireError) in
            guard let raw = UInt8(exactly: key), let type = CompanionType(rawValue: raw) else { return false }
            companions[type] = try reader.bytes(limit: hashBytes)
            return true
        }
        return companions
    }
}
