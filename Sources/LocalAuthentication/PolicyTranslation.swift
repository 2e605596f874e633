// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension LAPolicy {
    /// The policy as the daemon knows it.
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
    /// The kind of sensor that the daemon tells of.
    init(_ kind: BiometryKind) {
        switch kind {
        case .none: self = .none
        case .touchID: self = .touchID
        case .faceID: self = .faceID
        case .opticID: self = .opticID
        }
    }
}
