// SPDX-License-Identifier: Apache-2.0

import Security

/// An error whose sentence does not have to be among its details.
///
/// Foundation on Linux asks no provider for it, and details that were put in would make two errors of one code unequal.
final class DescribedError: NSError, @unchecked Sendable {
    override var localizedDescription: String { Self.sentence(self) ?? super.localizedDescription }

    /// Foundation on Linux prints "(null)" in place of the sentence.
    override var description: String {
        let details = userInfo.filter { $0.key != NSLocalizedDescriptionKey }
        let sentence = "Error Domain=\(domain) Code=\(code) \"\(localizedDescription)\""
        return details.isEmpty ? sentence : "\(sentence) UserInfo=\(details)"
    }

    /// Our sentence for an error of this module that brings none.
    static func sentence(_ error: NSError) -> String? {
        guard error.userInfo[NSLocalizedDescriptionKey] == nil else { return nil }
        return LAError.Code(error.code).sentence
    }
}

extension LAError.Code {
    /// What happened, for a person.
    fileprivate var sentence: String? {
        switch self {
        case .authenticationFailed: "Authentication failed."
        case .userCancel: "Authentication was cancelled."
        case .userFallback: "The other way to authenticate was chosen."
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
        case .invalidDimensions: "The view for authentication has impossible dimensions."
        case .notInteractive: "A prompt would be needed, and none may be shown."
        case .other: nil
        }
    }
}
