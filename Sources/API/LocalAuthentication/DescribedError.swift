// SPDX-License-Identifier: Apache-2.0

import Security

/// An error that computes its description from its code.
///
/// Foundation on Linux has no user info value providers. A description stored in `userInfo` would make errors with
/// equal codes unequal.
final class DescribedError: NSError, @unchecked Sendable {
    override var localizedDescription: String { Self.sentence(self) ?? super.localizedDescription }

    /// Replaces Foundation's description, which prints "(null)" for a description that is not in `userInfo`.
    override var description: String {
        let details = userInfo.filter { $0.key != NSLocalizedDescriptionKey }
        let sentence = "Error Domain=\(domain) Code=\(code) \"\(localizedDescription)\""
        return details.isEmpty ? sentence : "\(sentence) UserInfo=\(details)"
    }

    /// The description of an error of this module; nil when `userInfo` contains one or the code has no name.
    static func sentence(_ error: NSError) -> String? {
        guard error.userInfo[NSLocalizedDescriptionKey] == nil else { return nil }
        return LAError.Code(error.code).sentence
    }
}

extension LAError.Code {
    /// A sentence that says what happened, for display.
    fileprivate var sentence: String? {
        switch self {
        case .authenticationFailed: "Authentication failed."
        case .userCancel: "Authentication was cancelled."
        case .userFallback: "The fallback button was chosen."
        case .systemCancel: "Authentication was ended by the system."
        case .passcodeNotSet: "No passcode is set."
        case .biometryNotAvailable: "Biometry is not available."
        case .biometryNotEnrolled: "Nothing is enrolled with the sensor."
        case .biometryLockout: "Biometry is locked after too many failed tries; enter the passcode."
        case .appCancel: "Authentication was ended by the app."
        case .invalidContext: "The context was invalidated before."
        case .companionNotAvailable: "No paired device is nearby."
        case .biometryNotPaired: "The accessory with the sensor is not paired."
        case .biometryDisconnected: "The accessory with the sensor is not connected."
        case .invalidDimensions: "The view for authentication has invalid dimensions."
        case .notInteractive: "A prompt is needed, but it may not be shown."
        case .other: nil
        }
    }
}
