// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
public import Security

/// The enrolled set, as an opaque hash. Apple: `LADomainState`.
///
/// A hash has 32 bytes. It differs between apps and changes with every change of the set: adding a finger and
/// removing it again does not restore the previous hash. The object is an immutable snapshot.
public final class LADomainState: NSObject, Sendable {
    /// The sensor and its enrolled set. Apple: `LADomainState.biometry`.
    public let biometry: LADomainStateBiometry
    /// The paired devices, of which Linux has none. Apple: `LADomainState.companion`.
    public let companion = LADomainStateCompanion()

    init(_ report: EnvironmentReport?) { biometry = LADomainStateBiometry(report) }

    /// The hash of `biometry`, 32 bytes; nil when it has none. Apple: `LADomainState.stateHash`.
    public var stateHash: Data? { biometry.stateHash }
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
///
/// > Note: Linux: no device can be paired, so it is always empty.
public final class LADomainStateCompanion: NSObject, Sendable {
    override init() {}

    /// Always empty. Apple: `LADomainStateCompanion.availableCompanionTypes`.
    public var availableCompanionTypes: Set<LACompanionType> { [] }

    /// Always nil. Apple: `LADomainStateCompanion.stateHash`.
    public var stateHash: Data? { nil }

    /// Returns nil. Apple: `LADomainStateCompanion.stateHash(for:)`.
    ///
    /// - Parameter companionType: ignored.
    /// - Returns: nil, since no device is paired.
    public func stateHash(for companionType: LACompanionType) -> Data? { nil }
}
