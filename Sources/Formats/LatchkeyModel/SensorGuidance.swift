// SPDX-License-Identifier: Apache-2.0

/// What the user should do differently after a scan that the sensor could not use. Such a scan is not a failed match.
///
/// The cases are the retry results of fprintd's `VerifyStatus` signal and of libfprint's `FpDeviceRetry`. Raw values
/// are part of the wire format and never reused.
public enum SensorGuidance: UInt8, CaseIterable, Sendable {
    /// The scan was not usable for another reason (`verify-retry-scan`).
    case scanAgain = 1
    /// The swipe was too short (`verify-swipe-too-short`).
    case swipeTooShort = 2
    /// The finger was not centred on the sensor (`verify-finger-not-centered`).
    case fingerNotCentred = 3
    /// The finger has to be removed first (`verify-remove-and-retry`).
    case removeAndRetry = 4
    /// The finger moved too fast (`FP_DEVICE_RETRY_TOO_FAST`).
    case tooFast = 5

    /// Its word in a record of `latchkey-fingerprint enroll --plain`.
    package var word: String {
        switch self {
        case .scanAgain: "again"
        case .swipeTooShort: "longer"
        case .fingerNotCentred: "centre"
        case .removeAndRetry: "lift"
        case .tooFast: "slower"
        }
    }

    package var notice: PromptContent.Notice {
        switch self {
        case .scanAgain: .scanAgain
        case .swipeTooShort: .swipeTooShort
        case .fingerNotCentred: .fingerNotCentred
        case .removeAndRetry: .removeAndRetry
        case .tooFast: .scanTooFast
        }
    }
}
