// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Notes that are read with a finger or a passcode.
public struct NoteLocker: Sendable {
    /// A note that could not be written or read.
    public struct Refusal: Error, Equatable {
        /// The keychain's code.
        public let status: OSStatus

        /// A refusal with that code.
        public init(status: OSStatus) { self.status = status }
    }

    private let service: String

    /// The notes of one app.
    public init(service: String = "notes") { self.service = service }

    /// Keeps `text` under `title`.
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

    /// Whether there is a note of that title; asks nobody.
    public func has(title: String) -> Bool {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecAttrAccount as String: title, kSecUseAuthenticationContext as String: Asking.never(),
        ]
        // A protected item answers that somebody would have to be asked.
        return [errSecSuccess, errSecInteractionNotAllowed].contains(SecItemCopyMatching(query as CFDictionary, nil))
    }

    /// Asks the person, and returns the note.
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
