// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyKit

/// Why something failed, as text for the user. Never contains the text of a note or a password.
public enum QuickNoteError: LocalizedError, Hashable, Sendable {
    /// The password is wrong.
    case wrongPassword
    /// The password has no characters, or more than 1,024 bytes.
    case unusablePassword
    /// The two passwords differ.
    case passwordsDiffer
    /// Another window of the app has already set a password.
    case alreadySetUp
    /// The note exceeds the limit by this number of bytes.
    case noteTooLong(bytes: Int)
    /// The clipboard does not contain text.
    case notText
    /// The disk is full; the note remains in the window.
    case diskFull
    /// The keychain is locked: there is no prompt that would unlock it for one app.
    case notNow
    /// The keychain cannot be used; contains its message.
    case keychain(String)
    /// A part of the app failed.
    case internalFault(String)

    /// What happened and what to do.
    public var errorDescription: String? {
        switch self {
        case .wrongPassword: "That is not the password of QuickNote. Try again."
        case .unusablePassword: "The password has to have at least one character, and at most 1,024 bytes."
        case .passwordsDiffer: "The two passwords are not the same. Type them again."
        case .alreadySetUp: "A password was already set in another window. Enter it."
        case .noteTooLong(let bytes):
            "The note is \(bytes.formatted()) bytes too long. Move a part of it into another note; nothing is lost."
        case .notText: "The clipboard does not contain text. The note was not changed."
        case .diskFull: "The disk is full, so the note is not saved. Free some space; the text stays in this window."
        case .notNow:
            "The keychain is locked, and your notes are in it. Unlock it in Latchkey Settings, then try again."
        case .keychain(let words): "The keychain cannot be used: \(words)"
        case .internalFault(let words): "Something went wrong: \(words)"
        }
    }

    /// Converts an error of the keychain.
    init(_ error: KeychainError) {
        self =
            switch error.kind {
            case .diskFull: .diskFull
            case .interactionNotAllowed: .notNow
            default: .keychain(error.message)
            }
    }

    /// The same text, not optional.
    public var words: String { errorDescription ?? "" }

    /// The text for a person who does not know the parts of the keychain: without the message of one of them.
    public var plainWords: String {
        switch self {
        case .keychain: "The keychain cannot be used at the moment. Your notes are not lost. Try again."
        default: words
        }
    }
}
