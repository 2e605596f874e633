// SPDX-License-Identifier: Apache-2.0

/// What a prompt is shown for. Numbers are part of the wire format and never reused.
package enum PromptPurpose: UInt8, CaseIterable, Sendable {
    /// An app wants something proven; the prompt quotes its reason.
    case app = 0
    // For everything else the daemon says itself what is about to happen, and no text of the caller is shown.
    case unlock = 1
    case exportItems = 2
    case importItems = 3
    case changePasscode = 4
    case removePasscode = 5
    case discardProtected = 6
    case acceptStore = 7

    /// Whether the prompt comes up while the device is locked.
    package var mayAskWhileLocked: Bool { self == .unlock }
}

/// How an evaluation ends once every stage of its plan is proven.
package enum LastStep: UInt8, CaseIterable, Sendable {
    /// At once.
    case none = 0
    /// The prompt shows a recovery code until the person confirms that it is written down.
    case showsRecoveryCode = 1
    /// The person types the recovery code of a backup.
    case asksRecoveryCode = 2
}
