// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyKit

// What a front draws: values with the words in them, so that every front says the same.

/// The button that locks and unlocks.
public struct LockButton: Hashable, Sendable {
    /// What it does, in words.
    public var title: String
    /// The picture's name in icon themes of Linux desktops.
    public var iconName: String
    /// The picture's name in Apple's SF Symbols.
    public var symbolName: String
    /// The warning to show beside it, when it begins a scan at once; nil otherwise.
    public var warning: String?

    /// The button of a locked or unlocked app.
    ///
    /// - Parameters:
    ///   - isLocked: whether the notes are locked.
    ///   - biometry: the kind that unlocks now; nil when the password does.
    init(isLocked: Bool, biometry: Biometry?) {
        guard isLocked else {
            (title, iconName, symbolName) = ("Lock", "changes-allow-symbolic", "lock.open")
            return
        }
        guard let biometry else {
            (title, iconName, symbolName) = ("Unlock with your password", "changes-prevent-symbolic", "lock")
            return
        }
        title = "Unlock with \(biometry.name)"
        (iconName, symbolName) = (biometry.themeIconName, biometry.symbolName)
        warning = biometry.immediateScanWarning
    }
}

/// The question for the password.
public struct PasswordPrompt: Hashable, Sendable {
    /// Why it is asked.
    public var words: String
    /// What came of the last try; nil before one.
    public var error: String?
    /// Wrong tries so far.
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
                "What the sensor recognises has changed. Enter your password once; after that, it unlocks your notes again."
            case .demanded: "Enter your password once; after that, your \(part) unlocks your notes."
            case .notRecognised where !couldAsk:
                "There is no place to ask for your \(part): QuickNote was not started in a "
                    + "terminal, and no latchkey-agent shows prompts in this session. Start latchkey-agent, or enter "
                    + "your password."
            case .notRecognised: "Your \(part) did not unlock your notes. Enter your password."
            case .lockedOut: "\(name) is locked after too many tries. Enter your password."
            }
        error = reason == .wrongPassword ? QuickNoteError.wrongPassword.words : nil
        self.wrongTries = wrongTries
    }
}

/// One line of the list.
public struct NoteSummary: Identifiable, Hashable, Sendable {
    /// Which note.
    public let id: UUID
    /// Its first line.
    public let title: String
    /// When it was changed last.
    public let modified: Date
    /// Whether it has changes that are not saved.
    public let isUnsaved: Bool
}

/// What is shown where there is nothing to show.
public struct EmptyState: Hashable, Sendable {
    /// The picture's name in icon themes of Linux desktops.
    public let iconName: String
    /// What there is none of.
    public let title: String
    /// What to do.
    public let words: String
    /// Whether a button for a new note stands below the words.
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

/// Where the app stands.
public enum Phase: Hashable, Sendable {
    /// Before `start` has ended.
    case starting
    /// No password is set: two fields ask for one.
    case firstRun
    /// The notes are locked.
    case locked
    /// The notes are open.
    case unlocked
    /// The keychain cannot be used; the words say why and what to do. `start` tries again.
    case unavailable(String)
}
