// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyKit

/// Why something did not work, in words for the person who uses the app. Never holds a note or a password.
public enum QuickNoteError: LocalizedError, Hashable, Sendable {
    /// The password is not the one that was set.
    case wrongPassword
    /// The password has no characters, or more than 1,024 bytes.
    case unusablePassword
    /// The two fields differ.
    case passwordsDiffer
    /// A password is set already, by another window of the app.
    case alreadySetUp
    /// The note is too long, by that many bytes.
    case noteTooLong(bytes: Int)
    /// What was pasted is no text.
    case notText
    /// The disk is full; the note in the window is kept there.
    case diskFull
    /// Somebody would have to be asked, or the device is locked.
    case notNow
    /// The keychain cannot be used; its own words.
    case keychain(String)
    /// A part of the app failed.
    case internalFault(String)

    /// A sentence, and what to do.
    public var errorDescription: String? {
        switch self {
        case .wrongPassword: "That is not the password. Try again."
        case .unusablePassword: "The password has to have at least one character, and at most 1,024 bytes."
        case .passwordsDiffer: "The two passwords are not the same. Type them again."
        case .alreadySetUp: "A password was set already, in another window. Enter it."
        case .noteTooLong(let bytes):
            "The note is \(bytes.formatted()) bytes too long. Move a part of it into another note; nothing is lost."
        case .notText: "What you pasted is no text. The note is as it was."
        case .diskFull: "The disk is full, so the note is not saved. Make room; it stays in this window until it is."
        case .notNow: "The notes cannot be reached while the device is locked. Unlock it and try again."
        case .keychain(let words): "The keychain cannot be used: \(words)"
        case .internalFault(let words): "Something went wrong: \(words)"
        }
    }

    /// Takes what the keychain said.
    init(_ error: KeychainError) {
        self =
            switch error.kind {
            case .diskFull: .diskFull
            case .interactionNotAllowed: .notNow
            default: .keychain(error.message)
            }
    }

    /// The sentence.
    public var words: String { errorDescription ?? "" }
}
