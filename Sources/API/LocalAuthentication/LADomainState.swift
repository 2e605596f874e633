// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
public import Security

/// The enrolled set and the paired devices, as opaque hashes. Apple: `LADomainState`.
///
/// A hash has 32 bytes. It differs between apps and changes with every change of the set: adding a finger and
/// removing it again does not restore the previous hash. The object is an immutable snapshot.
public final class LADomainState: NSObject, Sendable {
    /// The sensor and its enrolled set. Apple: `LADomainState.biometry`.
    public let biometry: LADomainStateBiometry
    /// The paired devices. Apple: `LADomainState.companion`.
    public let companion: LADomainStateCompanion

    init(_ report: EnvironmentReport?) {
        biometry = LADomainStateBiometry(report)
        companion = LADomainStateCompanion(report)
    }

    /// The hash of `biometry` followed by that of `companion`: 32 bytes for each part that has one; nil when neither
    /// has. Apple: `LADomainState.stateHash`.
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
    /// The kind of sensor, whether usable or not. Apple: `LADomainStateBiometry.biometryType`.
    public let biometryType: LABiometryType
    /// 32 bytes that identify the enrolled set; nil when nothing is enrolled or biometry is locked. Apple:
    /// `LADomainStateBiometry.stateHash`.
    public let stateHash: Data?

    init(_ report: EnvironmentReport?) {
        biometryType = report.map { LABiometryType($0.biometry) } ?? .none
        // nil during lockout too, as on Apple systems: the preflight fails then, and Apple's
        // `evaluatedPolicyDomainState` is not set (behaviour DS-04).
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

    /// The types of which a device is paired. Apple: `LADomainStateCompanion.availableCompanionTypes`.
    public var availableCompanionTypes: Set<LACompanionType> { Set(hashes.keys) }

    /// 32 bytes for each paired type, in the order of the raw values; nil when no device is paired. Apple:
    /// `LADomainStateCompanion.stateHash`.
    public var stateHash: Data? {
        hashes.isEmpty ? nil : hashes.sorted { $0.key.rawValue < $1.key.rawValue }.reduce(Data()) { $0 + $1.value }
    }

    /// Returns the hash of the paired devices of one type. Apple: `LADomainStateCompanion.stateHash(for:)`.
    ///
    /// - Parameter companionType: the type of device.
    /// - Returns: 32 bytes that identify the paired devices of that type; nil when none is paired.
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
