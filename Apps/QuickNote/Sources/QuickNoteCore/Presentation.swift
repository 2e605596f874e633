// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyKit

// Values that a front end draws, including their texts, so that all front ends show the same.

/// The button that locks and unlocks.
public struct LockButton: Hashable, Sendable {
    /// Its title.
    public var title: String
    /// The name of its icon in icon themes of Linux desktops.
    public var iconName: String
    /// The name of its icon in Apple's SF Symbols.
    public var symbolName: String
    /// The warning to show beside it when it starts a scan at once; nil otherwise.
    public var warning: String?

    /// Creates the button of a locked or unlocked app.
    ///
    /// - Parameters:
    ///   - isLocked: whether the notes are locked.
    ///   - isKeychainLocked: whether the keychain is locked, so that nothing unlocks the notes.
    ///   - biometry: the biometry that unlocks now; nil when only the password does.
    init(isLocked: Bool, isKeychainLocked: Bool, biometry: Biometry?) {
        guard isLocked else {
            (title, iconName, symbolName) = ("Lock", "changes-allow-symbolic", "lock.open")
            return
        }
        guard !isKeychainLocked else {
            (title, iconName, symbolName) = ("Try Again", "view-refresh-symbolic", "arrow.clockwise")
            return
        }
        guard let biometry else {
            (title, iconName, symbolName) = ("Unlock with Your Password", "changes-prevent-symbolic", "lock")
            return
        }
        title = "Unlock with \(biometry.name)"
        (iconName, symbolName) = (biometry.themeIconName, biometry.symbolName)
        warning = biometry.immediateScanWarning
    }
}

/// The prompt for the password.
public struct PasswordPrompt: Hashable, Sendable {
    /// Why the password is required.
    public var words: String
    /// The error of the last attempt; nil before the first one.
    public var error: String?
    /// Number of wrong passwords so far.
    public var wrongTries: Int

    init(
        _ reason: FallbackFlow.PasswordReason, sensor: Biometry?, couldAsk: Bool, hasEnrolmentChanged: Bool,
        wrongTries: Int
    ) {
        let name = sensor?.name ?? "Biometry"
        let part = sensor?.bodyPart ?? "finger"
        words =
            switch reason {
            case .onlyWay, .chosen, .wrongPassword: "Enter your password to unlock your notes."
            case .demanded where hasEnrolmentChanged:
                "What the sensor recognises, or the passcode, has changed. If that was you, enter your password once; after that, each enrolled \(part) unlocks your notes."
            case .demanded: "Enter your password once; after that, your \(part) unlocks your notes."
            case .notRecognised where !couldAsk:
                "The prompt for your \(part) cannot be shown, because the program that shows prompts is not running. "
                    + "Enter your password."
            case .notRecognised: "Your \(part) did not unlock your notes. Enter your password."
            case .lockedOut: "\(name) is locked after too many tries. Enter your password."
            }
        error = reason == .wrongPassword ? QuickNoteError.wrongPassword.words : nil
        self.wrongTries = wrongTries
    }
}

/// A row of the list.
public struct NoteSummary: Identifiable, Hashable, Sendable {
    /// The id of the note.
    public let id: UUID
    /// The note's title.
    public let title: String
    /// When the note was last changed.
    public let modified: Date
    /// Whether the note has unsaved changes.
    public let isUnsaved: Bool
}

/// A placeholder for an empty list or text.
public struct EmptyState: Hashable, Sendable {
    /// The name of its icon in icon themes of Linux desktops.
    public let iconName: String
    /// What is missing.
    public let title: String
    /// What the user can do.
    public let words: String
    /// Whether to show a button for a new note.
    public var offersNewNote = false

    static let locked = EmptyState(
        iconName: "changes-prevent-symbolic", title: "Locked", words: "Unlock to see your notes.")
    static let noNotes = EmptyState(
        iconName: "document-new-symbolic", title: "No Notes", words: "Write one: only you can read it.",
        offersNewNote: true)
    static let noMatch = EmptyState(
        iconName: "edit-find-symbolic", title: "Nothing Found", words: "No note has these words.")
    static let noSelection = EmptyState(
        iconName: "document-open-symbolic", title: "No Note Selected", words: "Choose a note, or write a new one.")
}

/// The state of the app.
public enum Phase: Hashable, Sendable {
    /// `start` has not finished.
    case starting
    /// No password is set; the user must choose one.
    case firstRun
    /// The notes are locked.
    case locked
    /// The notes are unlocked.
    case unlocked
    /// The keychain cannot be used; the text is the reason for a person who knows its parts. `start` tries again.
    case unavailable(String)
}
