// SPDX-License-Identifier: Apache-2.0

import LatchkeyWire

/// The rules of one scan by a PAM module: what libpam's return values mean for a sensor. Pure; the process is driven
/// by `PAMFace`.
struct FaceConversation {
    /// How a scan ended.
    enum End: Equatable {
        case recognised
        case notRecognised
        /// Nothing was scanned, or the account may not be used.
        case failed
    }

    private var shown = 0

    /// What follows from a message of the process; nil while the scan goes on.
    mutating func received(_ message: PAMMessage) -> End? {
        switch message {
        // A module that asks for a text does not recognise a face, and a password must not count as one.
        case .begin, .answer, .said(.hiddenQuestion, _), .said(.shownQuestion, _), .said(.other, _): return .failed
        case .said(.information, _), .said(.error, _):
            shown += 1
            return shown > PAMConversation.messages ? .failed : nil
        case .ended(let phase, let code):
            switch (phase, PAMReturnValue(rawValue: code)) {
            // An account that must change its password may still be used, as with the password itself.
            case (.account, .success), (.account, .newPasswordRequired): return .recognised
            case (.authentication, .authenticationError), (.authentication, .triesExceeded): return .notRecognised
            default: return .failed
            }
        }
    }
}
