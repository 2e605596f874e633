// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
public import Security

/// What is enrolled and paired, as opaque hashes of this app's own. Apple: `LADomainState`.
///
/// A hash is 32 bytes, another one in every app, and another one after any change; adding and removing the same
/// finger does not bring the old one back. A snapshot: it does not change.
public final class LADomainState: NSObject, Sendable {
    /// What is enrolled.
    public let biometry: LADomainStateBiometry
    /// What is paired.
    public let companion: LADomainStateCompanion

    init(_ report: EnvironmentReport?) {
        biometry = LADomainStateBiometry(report)
        companion = LADomainStateCompanion(report)
    }

    /// Both hashes together: 64 bytes, or the 32 of the part that exists; nil when neither does.
    public var stateHash: Data? {
        switch (biometry.stateHash, companion.stateHash) {
        case (nil, nil): nil
        case (let biometry?, nil): biometry
        case (nil, let companion?): companion
        case (let biometry?, let companion?): biometry + companion
        }
    }
}

/// The biometric part of a domain state. Apple: `LADomainStateBiometry`.
public final class LADomainStateBiometry: NSObject, Sendable {
    /// The kind of sensor.
    public let biometryType: LABiometryType
    /// 32 bytes that stand for the enrolled set; nil when nothing is enrolled or biometry is locked.
    public let stateHash: Data?

    init(_ report: EnvironmentReport?) {
        biometryType = report.map { LABiometryType($0.biometry) } ?? .none
        // Reported for lockout as well: the preflight fails then, and the old property with it (behaviour DS-04).
        stateHash = report?.isLockedOut == true ? nil : report?.biometryHash.map { Data($0) }
    }
}

/// The paired part of a domain state. Apple: `LADomainStateCompanion`.
public final class LADomainStateCompanion: NSObject, Sendable {
    private let hashes: [LACompanionType: Data]

    init(_ report: EnvironmentReport?) {
        var hashes: [LACompanionType: Data] = [:]
        for (type, hash) in report?.companions ?? [:] { hashes[LACompanionType(type)] = Data(hash) }
        self.hashes = hashes
    }

    /// The types of which a device is paired.
    public var availableCompanionTypes: Set<LACompanionType> { Set(hashes.keys) }

    /// 32 bytes for each paired type, in the order of their raw values; nil when nothing is paired.
    public var stateHash: Data? {
        hashes.isEmpty ? nil : hashes.sorted { $0.key.rawValue < $1.key.rawValue }.reduce(Data()) { $0 + $1.value }
    }

    /// 32 bytes that stand for the paired devices of a type; nil when none is paired.
    public func stateHash(for companionType: LACompanionType) -> Data? { hashes[companionType] }
}

extension LACompanionType {
    init(_ type: CompanionType) {
        switch type {
        case .watch: self = .watch
        case .mac: self = .mac
        case .vision: self = .vision
        }
    }
}
