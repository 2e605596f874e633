// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension EnvironmentReport {
    func write(to writer: inout CBORWriter) {
        writer.map(biometryHash == nil ? 8 : 9)
        writer.unsigned(0)
        writer.unsigned(UInt64(biometry.rawValue))
        writer.unsigned(1)
        writer.boolean(isEnrolled)
        writer.unsigned(2)
        writer.boolean(isLockedOut)
        writer.unsigned(3)
        writer.boolean(isBiometryUsable)
        if let biometryHash {
            writer.unsigned(4)
            writer.bytes(biometryHash)
        }
        writer.unsigned(5)
        writer.boolean(isPasscodeSet)
        writer.unsigned(6)
        writer.boolean(isCompanionUsable)
        writer.unsigned(7)
        writer.map(companions.count)
        for (type, hash) in companions.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            writer.unsigned(UInt64(type.rawValue))
            writer.bytes(hash)
        }
        writer.unsigned(8)
        writer.unsigned(revision)
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var biometry: BiometryKind?
        var flags: [UInt64: Bool] = [:]
        var biometryHash: [UInt8]?
        var companions: [CompanionType: [UInt8]]?
        var revision: UInt64?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: biometry = try reader.number() as BiometryKind
            case 1, 2, 3, 5, 6: flags[key] = try reader.boolean()
            case 4: biometryHash = try reader.bytes(limit: 64)
            case 7: companions = try reader.companions()
            case 8: revision = try reader.unsigned()
            default: return false
            }
            return true
        }
        self.init(
            biometry: try required(biometry, 0), isEnrolled: try required(flags[1], 1),
            isLockedOut: try required(flags[2], 2), isBiometryUsable: try required(flags[3], 3),
            biometryHash: biometryHash, isPasscodeSet: try required(flags[5], 5),
            isCompanionUsable: try required(flags[6], 6), companions: try required(companions, 7),
            revision: try required(revision, 8))
    }
}

extension CBORReader {
    fileprivate mutating func companions() throws(WireError) -> [CompanionType: [UInt8]] {
        var companions: [CompanionType: [UInt8]] = [:]
        try map { (reader, key) throws(WireError) in
            guard let raw = UInt8(exactly: key), let type = CompanionType(rawValue: raw) else { return false }
            companions[type] = try reader.bytes(limit: 64)
            return true
        }
        return companions
    }
}
