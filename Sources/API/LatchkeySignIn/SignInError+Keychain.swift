// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LatchkeyKit
internal import LocalAuthentication
internal import Security

// How failures of the keychain are reported. The only place that translates them.

extension SignInError {
    /// The failure of a call that uses no key.
    init(keychain error: KeychainError) {
        switch error.kind {
        case .cancelled: self.init(.cancelled, underlying: error)
        case .alreadyThere: self.init(.alreadyRegistered, underlying: error)
        case .itemNotFound: self.init(.keyNotFound, underlying: error)
        default: self.init(.keychain, underlying: error)
        }
    }

    /// The failure of the creation of a key, whose code does not say what the machine lacks.
    init(creating error: KeychainError) {
        guard error.kind == .authenticationFailed else {
            self.init(keychain: error)
            return
        }
        let auth = BiometricAuth()
        let obstacle =
            auth.obstacle(to: .deviceOwnerAuthentication) ?? auth.obstacle(to: .deviceOwnerAuthenticationWithBiometrics)
        self.init(Self.kind(of: obstacle) ?? .notAuthenticated, underlying: error)
    }

    init(signing error: KeychainError, with key: SlottedKey) {
        if let kind = Self.kind(of: error.authentication) {
            self.init(kind, underlying: error)
        } else if error.kind == .authenticationFailed {
            self.init(key.isBoundToFormerFingers ? .enrollmentChanged : .notAuthenticated, underlying: error)
        } else if error.kind == .interactionNotAllowed {
            self.init(.notAuthenticated, underlying: error)
        } else {
            self.init(keychain: error)
        }
    }

    /// The kind that a failed authentication has by itself; nil if it has none.
    private static func kind(of failure: AuthenticationFailure?) -> Kind? {
        switch failure?.code {
        case .userCancel?, .appCancel?: .cancelled
        case .passcodeNotSet?: .passcodeNotSet
        case .biometryNotEnrolled?: .biometryNotEnrolled
        case .biometryLockout?: .biometryLockedOut
        case .biometryNotAvailable?: .biometryNotAvailable
        default: nil
        }
    }
}
