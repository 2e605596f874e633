// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Notes in the keychain that require biometry or the passcode to be read.
public struct NoteLocker: Sendable {
    /// The error of a note that could not be written or read.
    public struct Refusal: Error, Equatable {
        /// The status that the keychain returned.
        public let status: OSStatus

        /// Creates an error.
        ///
        /// - Parameter status: the status that the keychain returned.
        public init(status: OSStatus) { self.status = status }
    }

    private let service: String

    /// Creates an accessor for the notes of one service; does not access the keychain.
    ///
    /// - Parameter service: the `kSecAttrService` of all notes.
    public init(service: String = "notes") { self.service = service }

    /// Adds a note that is protected by user presence; does not prompt.
    ///
    /// - Parameters:
    ///   - text: the text of the note.
    ///   - title: the title of the note, unique within the service.
    /// - Throws: ``Refusal``, with `errSecDuplicateItem` when a note with this title exists.
    public func write(_ text: String, title: String) throws {
        var error: Unmanaged<CFError>?
        guard
            let rule = SecAccessControlCreateWithFlags(
                kCFAllocatorDefault, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .userPresence, &error)
        else { throw Refusal(status: errSecParam) }
        let note: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: title,
            kSecAttrAccessControl: rule, kSecValueData: Data(text.utf8),
        ]
        let status = SecItemAdd(note as CFDictionary, nil)
        guard status == errSecSuccess else { throw Refusal(status: status) }
    }

    /// Whether a note exists; does not prompt.
    ///
    /// - Parameter title: the title of the note.
    /// - Returns: true when the note exists, even if reading it would prompt.
    public func has(title: String) -> Bool {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecAttrAccount as String: title, kSecUseAuthenticationContext as String: Asking.never(),
        ]
        // For a protected item the keychain returns errSecInteractionNotAllowed, because reading it would prompt.
        return [errSecSuccess, errSecInteractionNotAllowed].contains(SecItemCopyMatching(query as CFDictionary, nil))
    }

    /// Reads a note; prompts and blocks until the user has answered.
    ///
    /// - Parameter title: the title of the note, which the prompt names.
    /// - Returns: the text of the note.
    /// - Throws: ``Refusal``, with `errSecItemNotFound` for an unknown title and `errSecUserCanceled` when the user
    ///   cancels.
    public func read(title: String) throws -> String {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecAttrAccount as String: title, kSecReturnData as String: kCFBooleanTrue as Any,
            kSecUseAuthenticationContext as String: Asking.forNote(title),
        ]
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        guard status == errSecSuccess, let data = result as? Data else { throw Refusal(status: status) }
        return String(decoding: data, as: UTF8.self)
    }
}
