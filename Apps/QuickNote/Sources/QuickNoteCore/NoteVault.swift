// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKit
import Security

/// The key of the notes, behind the app's password and behind biometry. DESIGN.md tells the whole of it.
///
/// Neither the password nor a hash of ours is stored: the keychain derives a key from the password by scrypt and seals
/// the note key with it, so that the right password is the one that opens it.
struct NoteVault: Sendable {
    let keychain: KeychainStore
    let service: String
    /// How the key is kept behind biometry, the best way first.
    let biometryProtections: [KeychainProtection]

    /// Places for the key behind a password. More than one, so that a change adds the new before it takes the old away.
    var slots: [KeychainEntry] {
        (0..<4).map { .password(service: service, account: "password-key.\($0)") }
    }
    private var biometryEntry: KeychainEntry { .password(service: service, account: "biometry-key") }

    // MARK: - Password

    /// How many passwords open the notes: none before the first run, one, or more after a change that was cut short.
    func passwordCount() async throws(QuickNoteError) -> Int { try await usedSlots().count }

    private func usedSlots() async throws(QuickNoteError) -> [KeychainEntry] {
        var used: [KeychainEntry] = []
        for slot in slots {
            let isUsed = try await call { () async throws(KeychainError) in try await keychain.contains(slot) }
            if isUsed { used.append(slot) }
        }
        return used
    }

    /// Makes a key and puts it behind the first password.
    func setUp(password: String) async throws(QuickNoteError) -> NoteKey {
        let password = try Self.composed(password)
        let key = try NoteKey()
        guard try await usedSlots().isEmpty else { throw .alreadySetUp }
        // What a finger opened before is the key of other notes.
        try await disarmBiometry()
        // The first slot and no other: of two windows that do this at once, one finds the item there.
        guard try await put(key, into: slots[0], password: password) else { throw .alreadySetUp }
        return key
    }

    /// The key, by the password.
    func open(password: String) async throws(QuickNoteError) -> NoteKey {
        let password = try Self.composed(password)
        for slot in try await usedSlots() {
            let data: Data
            do throws(KeychainError) {
                data = try await keychain.data(of: slot, prompt: .standard.password(password))
            } catch {
                // Another slot may have that password, and a slot may have gone meanwhile.
                guard [.authenticationFailed, .itemNotFound].contains(error.kind) else { throw QuickNoteError(error) }
                continue
            }
            return try NoteKey(data)
        }
        throw .wrongPassword
    }

    /// Puts the key behind another password. The old one is taken away only when the new one is in place: a crash in
    /// between leaves both.
    func changePassword(from old: String, to new: String) async throws(QuickNoteError) {
        let new = try Self.composed(new)
        let key = try await open(password: old)
        let used = try await usedSlots()
        for slot in slots where !used.contains(slot) {
            // Another window may have taken the place in between; then the next one is free.
            guard try await put(key, into: slot, password: new) else { continue }
            for old in used { try await call { () async throws(KeychainError) in try await keychain.remove(old) } }
            return
        }
        throw .internalFault("Too many changes of the password were cut short.")
    }

    /// False when there is something in that place.
    func put(_ key: NoteKey, into slot: KeychainEntry, password: String) async throws(QuickNoteError) -> Bool {
        let data = try key.data
        do throws(KeychainError) {
            try await keychain.add(
                data, in: slot, protection: .applicationPassword, label: "QuickNote",
                prompt: .standard.password(password))
            return true
        } catch {
            guard error.kind == .alreadyThere else { throw QuickNoteError(error) }
            return false
        }
    }

    /// One spelling (NFC) of what keyboards spell differently: the same characters are the same password (RFC 8265).
    private static func composed(_ password: String) throws(QuickNoteError) -> String {
        let password = password.precomposedStringWithCanonicalMapping
        guard (1...1024).contains(password.utf8.count) else { throw .unusablePassword }
        return password
    }

    // MARK: - Biometry

    /// Whether the key is behind biometry, as far as can be told without asking.
    func hasBiometry() async throws(QuickNoteError) -> Bool {
        try await call { () async throws(KeychainError) in try await keychain.contains(biometryEntry) }
    }

    /// The key, by a proof of biometry; nil when it is not behind what is enrolled now, or the proof does not do.
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

    /// Puts the key behind what is enrolled now; false where the keychain offers no such protection.
    func armBiometry(_ key: NoteKey) async throws(QuickNoteError) -> Bool {
        // Taken away first: changing the item would ask the person.
        try await disarmBiometry()
        let data = try key.data
        for protection in biometryProtections {
            do throws(KeychainError) {
                try await keychain.store(data, in: biometryEntry, protection: protection, label: "QuickNote")
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

    /// Takes the key from behind biometry.
    func disarmBiometry() async throws(QuickNoteError) {
        try await call { () async throws(KeychainError) in try await keychain.remove(biometryEntry) }
    }

    /// Forgets everything: what is sealed can never be opened again.
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
