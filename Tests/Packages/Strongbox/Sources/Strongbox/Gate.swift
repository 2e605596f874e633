// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

/// Asks a person before something happens.
public struct Gate {
    /// What can be asked for.
    public enum Kind: Equatable {
        /// Nothing: no passcode and no sensor.
        case none
        /// The passcode alone.
        case passcode
        /// A fingerprint.
        case finger
        /// A face, or eyes.
        case face
    }

    private let makeContext: () -> LAContext

    /// A gate that asks with the contexts that `makeContext` makes.
    public init(makeContext: @escaping () -> LAContext = { LAContext() }) { self.makeContext = makeContext }

    /// What this device can ask for, now.
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

    /// Whether the person is who they should be; false when they cancel.
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
