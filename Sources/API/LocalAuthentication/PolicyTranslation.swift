// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension LAPolicy {
    /// The policy in the daemon's protocol.
    var wire: Policy {
        switch self {
        case .deviceOwnerAuthenticationWithBiometrics: .deviceOwnerAuthenticationWithBiometrics
        case .deviceOwnerAuthentication: .deviceOwnerAuthentication
        case .deviceOwnerAuthenticationWithCompanion: .deviceOwnerAuthenticationWithCompanion
        case .deviceOwnerAuthenticationWithBiometricsOrCompanion: .deviceOwnerAuthenticationWithBiometricsOrCompanion
        case .deviceOwnerAuthenticationWithWristDetection: .deviceOwnerAuthenticationWithWristDetection
        }
    }
}

extension LABiometryType {
    /// The type of a sensor that the daemon reports.
    init(_ kind: BiometryKind) {
        switch kind {
        case .none: self = .none
        case .touchID: self = .touchID
        case .faceID: self = .faceID
        case .opticID: self = .opticID
        }
    }
}
