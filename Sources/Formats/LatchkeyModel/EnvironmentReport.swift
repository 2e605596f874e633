// SPDX-License-Identifier: Apache-2.0

/// The state of the authentication methods as one app may see it; the hashes differ from app to app.
package struct EnvironmentReport: Equatable, Sendable {
    package var biometry: BiometryKind
    package var isEnrolled: Bool
    package var isLockedOut: Bool
    package var isBiometryUsable: Bool
    /// Domain state hash of the enrolment set, 32 bytes; nil if no finger or face is enrolled.
    package var biometryHash: [UInt8]?
    package var isPasscodeSet: Bool
    /// Incremented whenever one of the fields above changes.
    package var revision: UInt64

    package init(
        biometry: BiometryKind, isEnrolled: Bool, isLockedOut: Bool, isBiometryUsable: Bool, biometryHash: [UInt8]?,
        isPasscodeSet: Bool, revision: UInt64
    ) {
        self.biometry = biometry
        self.isEnrolled = isEnrolled
        self.isLockedOut = isLockedOut
        self.isBiometryUsable = isBiometryUsable
        self.biometryHash = biometryHash
        self.isPasscodeSet = isPasscodeSet
        self.revision = revision
    }
}
