// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Bytes of the longest hash of an enrolment set.
private let hashBytes = 64

extension EnvironmentReport: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            biometry: try map.field(0, \.biometry),
            isEnrolled: try map.field(1, \.isEnrolled),
            isLockedOut: try map.field(2, \.isLockedOut),
            isBiometryUsable: try map.field(3, \.isBiometryUsable),
            biometryHash: try map.optional(4, \.biometryHash, .bytes(limit: hashBytes)),
            isPasscodeSet: try map.field(5, \.isPasscodeSet),
            revision: try map.field(6, \.revision))
    }
}
