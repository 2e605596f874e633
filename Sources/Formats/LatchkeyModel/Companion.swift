// SPDX-License-Identifier: Apache-2.0

/// The type of a paired device. Raw values are those of Apple's `LACompanionType`.
package enum CompanionType: UInt8, CaseIterable, Sendable {
    case watch = 1
    case mac = 2
    case vision = 4
}

/// The paired devices and which of them can be reached.
package struct CompanionState: Hashable, Sendable {
    /// For each type with paired devices, an opaque identifier of their set; it changes whenever the set changes.
    package var paired: [CompanionType: [UInt8]]
    /// The types of which a device can be reached now.
    package var nearby: Set<CompanionType>

    /// Creates a state from its fields.
    package init(paired: [CompanionType: [UInt8]] = [:], nearby: Set<CompanionType> = []) {
        self.paired = paired
        self.nearby = nearby
    }

    /// Whether at least one paired device can be reached.
    package var isReachable: Bool { !nearby.isDisjoint(with: paired.keys) }
}

/// The state of the authentication methods as one app may see it; the hashes differ from app to app.
package struct EnvironmentReport: Equatable, Sendable {
    package var biometry: BiometryKind
    package var isEnrolled: Bool
    package var isLockedOut: Bool
    package var isBiometryUsable: Bool
    /// Domain state hash of the enrolment set, 32 bytes; nil if no finger or face is enrolled.
    package var biometryHash: [UInt8]?
    package var isPasscodeSet: Bool
    package var isCompanionUsable: Bool
    /// Domain state hash of the paired devices of each type, 32 bytes.
    package var companions: [CompanionType: [UInt8]]
    /// Incremented whenever one of the fields above changes.
    package var revision: UInt64

    /// Creates a report from its fields.
    package init(
        biometry: BiometryKind, isEnrolled: Bool, isLockedOut: Bool, isBiometryUsable: Bool, biometryHash: [UInt8]?,
        isPasscodeSet: Bool, isCompanionUsable: Bool, companions: [CompanionType: [UInt8]], revision: UInt64
    ) {
        self.biometry = biometry
        self.isEnrolled = isEnrolled
        self.isLockedOut = isLockedOut
        self.isBiometryUsable = isBiometryUsable
        self.biometryHash = biometryHash
        self.isPasscodeSet = isPasscodeSet
        self.isCompanionUsable = isCompanionUsable
        self.companions = companions
        self.revision = revision
    }
}
