// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// The meaning of fprintd's signal `VerifyStatus(s result, b done)`.
enum VerifyStatus: Equatable {
    case match
    case noMatch
    /// The scan could not be used; it continues unless `done` was set.
    case guidance(SensorGuidance)
    case disconnected
    /// An error of the sensor, or a result that this version does not know.
    case failed

    /// Interprets a result. An unknown one that does not end the scan asks for another try; one that ends it is a
    /// failure and never a match.
    init(_ result: String, isDone: Bool) {
        switch result {
        // A match ends the scan. One that does not end it is not what fprintd sends.
        case "verify-match": self = isDone ? .match : .failed
        case "verify-no-match": self = .noMatch
        case "verify-retry-scan": self = .guidance(.scanAgain)
        case "verify-swipe-too-short": self = .guidance(.swipeTooShort)
        case "verify-finger-not-centered": self = .guidance(.fingerNotCentred)
        case "verify-remove-and-retry": self = .guidance(.removeAndRetry)
        case "verify-too-fast": self = .guidance(.tooFast)
        case "verify-disconnected": self = .disconnected
        case "verify-unknown-error": self = .failed
        default: self = isDone ? .failed : .guidance(.scanAgain)
        }
    }
}
