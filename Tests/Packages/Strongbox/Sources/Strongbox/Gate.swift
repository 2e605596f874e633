// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

/// Authenticates the user before an action.
public struct Gate {
    /// The available kinds of authentication.
    public enum Kind: Equatable {
        /// Neither a passcode nor a sensor.
        case none
        /// Only the passcode.
        case passcode
        /// A fingerprint.
        case finger
        /// A face, or eyes.
        case face
    }

    private let makeContext: () -> LAContext

    /// A gate that uses contexts created by `makeContext`.
    public init(makeContext: @escaping () -> LAContext = { LAContext() }) { self.makeContext = makeContext }

    /// The kind of authentication that is available now.
    public var kind: Kind {
        let context = makeContext()
        var error: NSError?
        guard context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error) else { return .none }
        guard context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) else {
            return .passcode
        }
        switch context.biometryType {
        case .none: return .passcode
        case .touchID: return .finger
        case .faceID, .opticID: return .face
        @unknown default: return .passcode
        }
    }

    /// Whether the user was authenticated; false when the user cancels.
    public func open(reason: String) async throws -> Bool {
        let context = makeContext()
        context.localizedFallbackTitle = ""
        do {
            return try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: reason)
        } catch LAError.userCancel, LAError.appCancel {
            return false
        }
    }
}
