// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The meaning of fprintd's signal `EnrollStatus(s result, b done)`.
package enum EnrolStatus: Equatable, Sendable {
    /// One of several scans is complete.
    case stagePassed
    /// The scan could not be used; it continues.
    case guidance(SensorGuidance)
    case completed
    /// This finger is enrolled already, perhaps under another name or for another user.
    case duplicate
    /// The reader has no space for another print.
    case full
    case disconnected
    /// The enrolment failed, or its result is not known to this version.
    case failed

    /// Interprets a result. An unknown one never counts as an enrolled finger.
    init(_ result: String, isDone: Bool) {
        switch result {
        case "enroll-completed": self = isDone ? .completed : .failed
        case "enroll-stage-passed": self = .stagePassed
        case "enroll-duplicate": self = .duplicate
        case "enroll-data-full": self = .full
        case "enroll-disconnected": self = .disconnected
        case "enroll-retry-scan": self = .guidance(.scanAgain)
        case "enroll-swipe-too-short": self = .guidance(.swipeTooShort)
        case "enroll-finger-not-centered": self = .guidance(.fingerNotCentred)
        case "enroll-remove-and-retry": self = .guidance(.removeAndRetry)
        case "enroll-too-fast": self = .guidance(.tooFast)
        default: self = isDone ? .failed : .guidance(.scanAgain)
        }
    }
}
