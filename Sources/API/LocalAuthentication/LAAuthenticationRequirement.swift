// SPDX-License-Identifier: Apache-2.0

public import Security

/// The proof that a right demands before it is authorized. Apple: `LAAuthenticationRequirement`.
///
/// Immutable, and safe to use from any thread.
public final class LAAuthenticationRequirement: NSObject, Sendable {
    let policy: LAPolicy
    let flags: SecAccessControlCreateFlags
    /// Hash of the enrolled set that `biometryCurrentSet` was created with.
    let set: Data?

    private init(_ policy: LAPolicy, _ flags: SecAccessControlCreateFlags, set: Data? = nil) {
        self.policy = policy
        self.flags = flags
        self.set = set
    }

    /// Restores the requirement of a saved right from the flags of its access control; nil for other flags.
    convenience init?(stored flags: SecAccessControlCreateFlags, set: Data?) {
        switch flags {
        case .userPresence: self.init(.deviceOwnerAuthentication, flags)
        case .biometryAny, .biometryCurrentSet: self.init(.deviceOwnerAuthenticationWithBiometrics, flags, set: set)
        default: return nil
        }
    }

    /// Requires biometry or the passcode. Apple: `LAAuthenticationRequirement.default`.
    public class var `default`: LAAuthenticationRequirement {
        LAAuthenticationRequirement(.deviceOwnerAuthentication, .userPresence)
    }

    /// Requires biometry; authorizing fails while no sensor is usable or nothing is enrolled. Apple:
    /// `LAAuthenticationRequirement.biometry`.
    public class var biometry: LAAuthenticationRequirement {
        LAAuthenticationRequirement(.deviceOwnerAuthenticationWithBiometrics, .biometryAny)
    }

    /// Requires biometry of the set that is enrolled now. Apple: `LAAuthenticationRequirement.biometryCurrentSet`.
    ///
    /// Authorizing fails with `LAError.authenticationFailed` after any enrolment change. Reading this property blocks
    /// for one round trip to the daemon; it never prompts.
    public class var biometryCurrentSet: LAAuthenticationRequirement {
        LAAuthenticationRequirement(
            .deviceOwnerAuthenticationWithBiometrics, .biometryCurrentSet,
            set: LAContext().domainState.biometry.stateHash)
    }

    /// Requires biometry, with a fallback when the finger or face is not recognised. Apple:
    /// `LAAuthenticationRequirement.biometry(fallback:)`.
    ///
    /// - Parameter fallback: the fallback. Both values of `LABiometryFallbackRequirement` mean the passcode.
    /// - Returns: a requirement that biometry or the passcode meets.
    public class func biometry(fallback: LABiometryFallbackRequirement) -> Self {
        Self(.deviceOwnerAuthentication, .userPresence)
    }
}

/// The fallback of a requirement for biometry. Apple: `LABiometryFallbackRequirement`.
public final class LABiometryFallbackRequirement: NSObject, Sendable {
    /// The system's default fallback, which is the passcode. Apple: `LABiometryFallbackRequirement.default`.
    public class var `default`: LABiometryFallbackRequirement { LABiometryFallbackRequirement() }
    /// The passcode of the device. Apple: `LABiometryFallbackRequirement.devicePasscode`.
    public class var devicePasscode: LABiometryFallbackRequirement { LABiometryFallbackRequirement() }
}
