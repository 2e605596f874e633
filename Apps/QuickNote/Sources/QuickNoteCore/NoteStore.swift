// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKit
import Security

/// The sealed notes, each in a keychain item: a save is one transaction of the keychain, so that after a crash either
/// the previous or the new text exists.
///
/// Each item has a revision, which a change must name. When two windows change one note at the same time, the second
/// change fails, so that no text is overwritten.
struct NoteStore: Sendable {
    /// The content of one item.
    struct Sealed: Sendable {
        var id: UUID
        var revision: Data
        var bytes: Data
    }

    let service: String

    /// The revisions of all notes, without reading a note: every read is in the audit log, and a window looks often.
    func revisions() async throws(QuickNoteError) -> [UUID: Data] {
        try await call { () throws(KeychainError) in
            var found: [UUID: Data] = [:]
            for item in try attributes(query()) {
                guard let account = item[kSecAttrAccount as String] as? String, let id = UUID(uuidString: account)
                else { continue }
                found[id] = item[kSecAttrGeneric as String] as? Data ?? Data()
            }
            return found
        }
    }

    /// Reads every note.
    func all() async throws(QuickNoteError) -> [Sealed] {
        try await call { () throws(KeychainError) in
            var query = query()
            query[kSecReturnData as String] = true
            return try attributes(query).compactMap { item in
                guard let account = item[kSecAttrAccount as String] as? String, let id = UUID(uuidString: account),
                    let bytes = item[kSecValueData as String] as? Data
                else { return nil }
                return Sealed(id: id, revision: item[kSecAttrGeneric as String] as? Data ?? Data(), bytes: bytes)
            }
        }
    }

    /// Adds a note; false when a note with this id exists.
    ///
    /// - Parameter created: when it was written, which is its name where items are listed: the text stays sealed.
    func add(_ note: Sealed, created: Date) async throws(QuickNoteError) -> Bool {
        try await call { () throws(KeychainError) in
            var item = query(note.id)
            item[kSecAttrGeneric as String] = note.revision
            item[kSecValueData as String] = note.bytes
            item[kSecAttrAccessible as String] = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
            item[kSecAttrLabel as String] = try label(created)
            item[kSecAttrDescription as String] = Self.kind
            let status = SecItemAdd(item as CFDictionary, nil)
            guard status != errSecDuplicateItem else { return false }
            guard status == errSecSuccess else { throw KeychainError(status: status) }
            return true
        }
    }

    /// Changes a note if it still has this revision; false when the revision differs or the note was deleted.
    func replace(_ note: Sealed, at revision: Data) async throws(QuickNoteError) -> Bool {
        try await call { () throws(KeychainError) in
            let changes: [String: Any] = [
                kSecAttrGeneric as String: note.revision, kSecValueData as String: note.bytes,
                kSecAttrDescription as String: Self.kind,
            ]
            let status = SecItemUpdate(query(note.id, revision) as CFDictionary, changes as CFDictionary)
            guard status != errSecItemNotFound else { return false }
            guard status == errSecSuccess else { throw KeychainError(status: status) }
            return true
        }
    }

    /// Deletes a note if it still has this revision; false when the revision differs or the note was deleted.
    func remove(_ id: UUID, at revision: Data) async throws(QuickNoteError) -> Bool {
        try await call { () throws(KeychainError) in
            let status = SecItemDelete(query(id, revision) as CFDictionary)
            guard status != errSecItemNotFound else { return false }
            guard status == errSecSuccess else { throw KeychainError(status: status) }
            return true
        }
    }

    /// Deletes every note.
    func removeAll() async throws(QuickNoteError) {
        try await call { () throws(KeychainError) in
            let status = SecItemDelete(query() as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw KeychainError(status: status) }
        }
    }

    // MARK: - Parts

    /// What lists of items call a note.
    private static let kind = "encrypted note"

    /// The name of a new note: when it was written; to the second if another note was written in that minute.
    private func label(_ created: Date) throws(KeychainError) -> String {
        let minute = "Note of " + created.formatted(date: .abbreviated, time: .shortened)
        let names = Set(try attributes(query()).compactMap { $0[kSecAttrLabel as String] as? String })
        guard names.contains(minute) else { return minute }
        let second = "Note of " + created.formatted(date: .abbreviated, time: .standard)
        guard names.contains(second) else { return second }
        // Of copies, which have the time of their note.
        var number = 2
        while names.contains("\(second), \(number)") { number += 1 }
        return "\(second), \(number)"
    }

    /// The attributes of all items that match, with what else the query asks for.
    private func attributes(_ query: [String: Any]) throws(KeychainError) -> [[String: Any]] {
        var query = query
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        query[kSecReturnAttributes as String] = true
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        guard status != errSecItemNotFound else { return [] }
        guard status == errSecSuccess else { throw KeychainError(status: status) }
        return result as? [[String: Any]] ?? []
    }

    private func query(_ id: UUID? = nil, _ revision: Data? = nil) -> [String: Any] {
        var query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecUseDataProtectionKeychain as String: true,
        ]
        if let id { query[kSecAttrAccount as String] = id.uuidString }
        if let revision { query[kSecAttrGeneric as String] = revision }
        return query
    }

    private func call<R: Sendable>(
        _ body: @Sendable () throws(KeychainError) -> R
    ) async throws(QuickNoteError) -> R {
        do throws(KeychainError) {
            return try await KeychainStore.inBackground(body)
        } catch {
            throw QuickNoteError(error)
        }
    }
}
