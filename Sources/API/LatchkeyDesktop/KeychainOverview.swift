// SPDX-License-Identifier: Apache-2.0

public import LatchkeyModel

/// The state of the user's keychain.
public struct KeychainOverview: Equatable, Sendable {
    /// What protects the store.
    public enum Protection: CaseIterable, Sendable {
        /// Two services of the system, and a TPM that seals the root key.
        case chip
        /// Two services of the system, which store the root key in a file.
        case services
        /// A daemon of the user, which stores the root key in a file of theirs.
        case user
        /// A simulated machine for tests, which protects nothing.
        case simulated
    }

    /// What a passcode is.
    public enum Passcode: CaseIterable, Sendable {
        /// A secret that only Latchkey has.
        case own
        /// The password of the user's account. It is changed by the system's means only.
        case account
    }

    /// What protects the store.
    public let protection: Protection
    /// The folder of the store, or a name of the system's store.
    public let storePath: String
    /// Whether `KeychainControl.items()` lists the items of all apps. The system's services tell an app about its own items
    /// only, also this one, unless the user agrees at the prompt of `KeychainControl.itemsAfterPrompt()`.
    public var listsItems: Bool {
        switch protection {
        case .user, .simulated: true
        case .chip, .services: false
        }
    }
    /// Number of items of all apps; 0 when `problem` is set.
    public let itemCount: UInt64
    /// Whether a recovery code replaces a forgotten passcode.
    public var hasRecoveryCode: Bool { protection == .chip && isPasscodeSet }
    /// Whether a passcode is set.
    public let isPasscodeSet: Bool
    /// What the passcode is, or what a first one will be; nil if that is not known.
    public let passcode: Passcode?
    /// Minimum characters of a new passcode of kind `own`.
    public let passcodeCharacters: Int
    /// Whether the keychain is locked.
    public let isLocked: Bool
    /// The kind of sensor that the daemon uses.
    public let sensor: BiometryKind
    /// Whether a finger or a face is enrolled.
    public let isEnrolled: Bool
    /// Whether the sensor is ignored until the passcode was entered.
    public let isSensorLocked: Bool
    /// Number of damaged items that were quarantined.
    public let damagedCount: UInt64
    /// Why the store cannot be used; nil if it can.
    public let problem: SettingsFailure?

    init(_ report: StatusReport) {
        protection =
            switch report.tier {
            case .tpm: .chip
            case .file: .services
            case .user: .user
            case .simulated: .simulated
            }
        sensor = report.biometry
        storePath = report.storePath
        problem = report.problem.map { SettingsFailure($0) }
        itemCount = report.problem == nil ? report.itemCount : 0
        isPasscodeSet = report.isPasscodeSet
        passcode =
            switch report.passcodeKind {
            case nil: nil
            case .own: .own
            case .account: .account
            }
        passcodeCharacters = report.tier.passcodeCharacters
        isLocked = report.isLocked
        isEnrolled = report.isEnrolled
        isSensorLocked = report.isBiometryLocked
        damagedCount = report.quarantineCount
    }
}
