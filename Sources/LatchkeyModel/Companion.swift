// SPDX-License-Identifier: Apache-2.0

/// A kind of paired device; raw values are Apple's (`LACompanionType`).
package enum CompanionType: UInt8, CaseIterable, Sendable {
    case watch = 1
    case mac = 2
    case vision = 4
}

/// The paired devices as far as they are known.
package struct CompanionState: Hashable, Sendable {
    /// What names the paired devices of a type: opaque, another value after every change.
    package var paired: [CompanionType: [UInt8]]
    /// The types that can be reached now.
    package var nearby: Set<CompanionType>

    /// Makes a state.
    package init(paired: [CompanionType: [UInt8]] = [:], nearby: Set<CompanionType> = []) {
        self.paired = paired
        self.nearby = nearby
    }

    /// Whether one of the paired devices can be asked.
    package var isReachable: Bool { !nearby.isDisjoint(with: paired.keys) }
}

/// What an app may know of the ways to authenticate; hashes are of this app's own.
package struct EnvironmentReport: Equatable, Sendable {
    package var biometry: BiometryKind
    package var isEnrolled: Bool
    package var isLockedOut: Bool
    package var isBiometryUsable: Bool
    /// 32 bytes; nil when nothing is enrolled.
    package var biometryHash: [UInt8]?
    package var isPasscodeSet: Bool
    package var isCompanionUsable: Bool
    /// 32 bytes for each paired type.
    package var companions: [CompanionType: [UInt8]]
    /// Counts the changes of everything above.
    package var revision: UInt64

    /// Makes a report.
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
