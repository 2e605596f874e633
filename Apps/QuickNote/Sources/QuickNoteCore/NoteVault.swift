// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKit
import Security

/// The key of the notes, protected by the app's password and by biometry. DESIGN.md describes the design.
///
/// Neither the password nor a hash of it is stored: the keychain derives a key from the password by scrypt and seals
/// the note key with it, so that the right password is the one that opens the item.
struct NoteVault: Sendable {
    let keychain: KeychainStore
    let service: String
    /// Access controls for the item protected by biometry, in order of preference.
    let biometryProtections: [KeychainProtection]

    /// Items for the key protected by a password. Several, so that a change adds the new item before it deletes the
    /// old one.
    var slots: [KeychainEntry] {
        (0..<4).map { .password(service: service, account: "password-key.\($0)") }
    }
    /// What lists of items call the items of the key.
    private static let kind = "key of the app"
    private var biometryEntry: KeychainEntry { .password(service: service, account: "biometry-key") }

    // MARK: - Password

    /// Number of valid passwords: 0 before the first run, normally 1, more after an interrupted change.
    func passwordCount() async throws(QuickNoteError) -> Int { try await usedSlots().count }

    private func usedSlots() async throws(QuickNoteError) -> [KeychainEntry] {
        var used: [KeychainEntry] = []
        for slot in slots {
            let isUsed = try await call { () async throws(KeychainError) in try await keychain.contains(slot) }
            if isUsed { used.append(slot) }
        }
        return used
    }

    /// Creates a key and protects it with the first password.
    func setUp(password: String) async throws(QuickNoteError) -> NoteKey {
        let password = try Self.composed(password)
        let key = try NoteKey()
        guard try await usedSlots().isEmpty else { throw .alreadySetUp }
        // An item that biometry opens now contains the key of earlier notes.
        try await disarmBiometry()
        // Uses only the first slot: when two windows do this at the same time, the second finds the item there.
        guard try await put(key, into: slots[0], password: password) else { throw .alreadySetUp }
        return key
    }

    /// Opens the key with the password.
    func open(password: String) async throws(QuickNoteError) -> NoteKey {
        let password = try Self.composed(password)
        for slot in try await usedSlots() {
            let data: Data
            do throws(KeychainError) {
                data = try await keychain.data(of: slot, prompt: .standard.password(password))
            } catch {
                // Another slot may have this password, and a slot may have been deleted meanwhile.
                guard [.authenticationFailed, .itemNotFound].contains(error.kind) else { throw QuickNoteError(error) }
                continue
            }
            return try NoteKey(data)
        }
        throw .wrongPassword
    }

    /// Changes the password. Deletes the old item only after the new one was added: a crash in between leaves both, and
    /// both passwords are valid.
    func changePassword(from old: String, to new: String) async throws(QuickNoteError) {
        let new = try Self.composed(new)
        let key = try await open(password: old)
        let used = try await usedSlots()
        for slot in slots where !used.contains(slot) {
            // Another window may have used this slot meanwhile; then tries the next one.
            guard try await put(key, into: slot, password: new) else { continue }
            for old in used { try await call { () async throws(KeychainError) in try await keychain.remove(old) } }
            return
        }
        throw .internalFault("Too many changes of the password were interrupted.")
    }

    /// Adds an item with the key; false when the slot is in use.
    func put(_ key: NoteKey, into slot: KeychainEntry, password: String) async throws(QuickNoteError) -> Bool {
        let data = try key.data
        do throws(KeychainError) {
            try await keychain.add(
                data, in: slot, protection: .applicationPassword, label: "Key of all notes, for the password",
                description: Self.kind,
                comment: "Your password opens the notes with it. Without both keys no note can be read.",
                prompt: .standard.password(password))
            return true
        } catch {
            guard error.kind == .alreadyThere else { throw QuickNoteError(error) }
            return false
        }
    }

    /// Normalises the password to NFC, because keyboards encode the same characters differently (RFC 8265).
    private static func composed(_ password: String) throws(QuickNoteError) -> String {
        let password = password.precomposedStringWithCanonicalMapping
        guard (1...1024).contains(password.utf8.count) else { throw .unusablePassword }
        return password
    }

    // MARK: - Biometry

    /// Whether an item protected by biometry exists; does not prompt.
    func hasBiometry() async throws(QuickNoteError) -> Bool {
        try await call { () async throws(KeychainError) in try await keychain.contains(biometryEntry) }
    }

    /// Opens the key with a biometric proof; nil when the item does not exist for the current enrolment, or the proof
    /// is not accepted.
    func open(proof: KeychainPrompt) async throws(QuickNoteError) -> NoteKey? {
        let data: Data
        do throws(KeychainError) {
            data = try await keychain.data(of: biometryEntry, prompt: proof)
        } catch {
            guard [.authenticationFailed, .itemNotFound, .cancelled].contains(error.kind) else {
                throw QuickNoteError(error)
            }
            return nil
        }
        return try NoteKey(data)
    }

    /// Protects the key with the current enrolment; false where the keychain does not support it.
    func armBiometry(_ key: NoteKey) async throws(QuickNoteError) -> Bool {
        // Deleted first, because changing the item would prompt the user.
        try await disarmBiometry()
        let data = try key.data
        for protection in biometryProtections {
            do throws(KeychainError) {
                try await keychain.store(
                    data, in: biometryEntry, protection: protection, label: "Key of all notes, for the finger or face",
                    description: Self.kind,
                    comment: "Your finger or face opens the notes with it. Without both keys no note can be read.")
                return true
            } catch {
                // Refused: no passcode is set, or this tier cannot bind an item to the enrolled set.
                guard error.kind == .authenticationFailed || error.kind == .badParameter else {
                    throw QuickNoteError(error)
                }
            }
        }
        return false
    }

    /// Deletes the item protected by biometry.
    func disarmBiometry() async throws(QuickNoteError) {
        try await call { () async throws(KeychainError) in try await keychain.remove(biometryEntry) }
    }

    /// Deletes every item with the key: sealed notes can never be opened again.
    func destroy() async throws(QuickNoteError) {
        try await disarmBiometry()
        for slot in slots { try await call { () async throws(KeychainError) in try await keychain.remove(slot) } }
    }

    private func call<R>(
        _ body: () async throws(KeychainError) -> R
    ) async throws(QuickNoteError) -> R {
        do throws(KeychainError) {
            return try await body()
        } catch {
            throw QuickNoteError(error)
        }
    }
}
