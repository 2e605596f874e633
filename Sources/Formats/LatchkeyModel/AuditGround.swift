// SPDX-License-Identifier: Apache-2.0

/// Why a program got what it asked for, or did not. Raw values are part of the store format.
public enum AuditGround: Hashable, Sendable {
    /// What allowed a use. Empty for a use that needs no proof and no answer, and for events other than uses and refusals.
    case allowed(UseGrounds)
    case refused(RefusalReason)
    /// What was not right; of failed tries only. Entries of earlier versions do not have it.
    case failed(TriedProof)

    /// Added to the number of a reason; smaller values are sets of grounds.
    private static let refusals: UInt8 = 128
    /// Added to the number of a proof that was tried.
    private static let tries: UInt8 = 192

    /// The ground of a number in the store or in a message; nil for one that has no meaning.
    public init?(rawValue: UInt8) {
        if rawValue < Self.refusals {
            let grounds = UseGrounds(rawValue: rawValue)
            guard grounds.isSubset(of: .all) else { return nil }
            self = .allowed(grounds)
        } else if rawValue >= Self.tries {
            guard let proof = TriedProof(rawValue: rawValue - Self.tries) else { return nil }
            self = .failed(proof)
        } else {
            guard let reason = RefusalReason(rawValue: rawValue - Self.refusals) else { return nil }
            self = .refused(reason)
        }
    }

    /// The number in the store and in messages.
    public var rawValue: UInt8 {
        switch self {
        case .allowed(let grounds): grounds.rawValue
        case .refused(let reason): Self.refusals + reason.rawValue
        case .failed(let proof): Self.tries + proof.rawValue
        }
    }
}

/// What a person tried in vain at a prompt.
public enum TriedProof: UInt8, CaseIterable, Sendable {
    /// A finger that was not recognised.
    case finger = 1
    /// A face or an eye that was not recognised.
    case face = 2
    /// A wrong passcode.
    case passcode = 3
    /// A wrong account password. In tier `file` it can be the passcode.
    case accountPassword = 4

    /// What a sensor of this kind did not recognise.
    package init(_ sensor: BiometryKind) { self = sensor == .touchID ? .finger : .face }
}

/// What allowed the use of an item or a key.
public struct UseGrounds: OptionSet, Hashable, Sendable {
    /// The sum of the numbers of the grounds.
    public let rawValue: UInt8
    /// The grounds of a sum of numbers.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A finger of the user matched.
    public static let finger = UseGrounds(rawValue: 1)
    /// The face of the user matched.
    public static let face = UseGrounds(rawValue: 2)
    /// The passcode was entered.
    public static let passcode = UseGrounds(rawValue: 4)
    /// The app gave the password of the item.
    public static let appPassword = UseGrounds(rawValue: 8)
    /// The user agreed at a prompt that named the program, which is not the owner of the item.
    public static let agreed = UseGrounds(rawValue: 16)
    /// The user had answered that the program may always read the item.
    public static let always = UseGrounds(rawValue: 32)
    /// The user had answered that the program may read the item until they log out.
    public static let untilLogout = UseGrounds(rawValue: 64)

    /// Every ground, in the order in which they are listed.
    public static let each: [UseGrounds] = [.finger, .face, .passcode, .appPassword, .agreed, .always, .untilLogout]
    static let all = UseGrounds(each)
}

/// Why a program did not get what it asked for.
public enum RefusalReason: UInt8, CaseIterable, Sendable {
    /// None of the others, or several of them.
    case other = 0
    /// The user cancelled the prompt, or declined.
    case cancelled = 1
    /// The user chose the button with which the app offers another way.
    case fallback = 2
    /// The finger, the face or the passcode was not right.
    case notRecognized = 3
    /// Too many wrong tries came before.
    case lockedOut = 4
    /// No prompt could be shown.
    case noPrompt = 5
    /// The keychain was locked.
    case locked = 6
    /// The user had answered that the program may never read the item.
    case never = 7
    /// The app gave another password than that of the item.
    case wrongAppPassword = 8
    /// The item or key was bound to fingers, faces or a passcode that are there no longer.
    case replaced = 9
    /// No passcode is set, nothing is enrolled, or there is no sensor that may be used.
    case notSetUp = 10
    /// The program named the access group of another one.
    case otherApp = 11
    /// The program, its connection or the system ended the request before the user answered.
    case ended = 12

    /// The reason that a status gives; `other` for one that says nothing about it.
    package init(_ status: Status) {
        self =
            switch status {
            case .userCancel, .interrupted, .promptDelayed: .cancelled
            case .userFallback: .fallback
            case .authenticationFailed: .notRecognized
            case .biometryLockout, .passcodeDelayed: .lockedOut
            case .notInteractive: .noPrompt
            case .passcodeNotSet, .biometryNotAvailable, .biometryNotEnrolled, .companionNotAvailable: .notSetUp
            case .missingEntitlement: .otherApp
            case .systemCancel, .appCancel, .cancelled, .invalidContext: .ended
            default: .other
            }
    }
}
