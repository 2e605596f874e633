// SPDX-License-Identifier: Apache-2.0

public import Security

/// What a right asks for. Apple: `LAAuthenticationRequirement`.
public final class LAAuthenticationRequirement: NSObject, Sendable {
    let policy: LAPolicy
    let rule: SecAccessControlCreateFlags
    /// The set that `biometryCurrentSet` is bound to.
    let set: Data?

    private init(_ policy: LAPolicy, _ rule: SecAccessControlCreateFlags, set: Data? = nil) {
        self.policy = policy
        self.rule = rule
        self.set = set
    }

    /// A requirement that was kept by its flags.
    convenience init?(kept rule: SecAccessControlCreateFlags, set: Data?) {
        switch rule {
        case .userPresence: self.init(.deviceOwnerAuthentication, rule)
        case .biometryAny, .biometryCurrentSet: self.init(.deviceOwnerAuthenticationWithBiometrics, rule, set: set)
        default: return nil
        }
    }

    /// Biometry or the passcode.
    public class var `default`: LAAuthenticationRequirement {
        LAAuthenticationRequirement(.deviceOwnerAuthentication, .userPresence)
    }

    /// Biometry; fails where it is not available or nothing is enrolled.
    public class var biometry: LAAuthenticationRequirement {
        LAAuthenticationRequirement(.deviceOwnerAuthenticationWithBiometrics, .biometryAny)
    }

    /// Biometry, and only the set that was enrolled when the requirement was made.
    public class var biometryCurrentSet: LAAuthenticationRequirement {
        LAAuthenticationRequirement(
            .deviceOwnerAuthenticationWithBiometrics, .biometryCurrentSet,
            set: LAContext().domainState.biometry.stateHash)
    }

    /// Biometry with a way out for a person whose finger or face is not recognised.
    public class func biometry(fallback: LABiometryFallbackRequirement) -> Self {
        Self(.deviceOwnerAuthentication, .userPresence)
    }
}

/// The way out when biometry fails. Apple: `LABiometryFallbackRequirement`.
public final class LABiometryFallbackRequirement: NSObject, Sendable {
    /// The system's choice: the passcode.
    public class var `default`: LABiometryFallbackRequirement { LABiometryFallbackRequirement() }
    /// The passcode.
    public class var devicePasscode: LABiometryFallbackRequirement { LABiometryFallbackRequirement() }
}
