// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LatchkeyKit
internal import LocalAuthentication
internal import Security

/// A key pair and the slot in which it is.
struct SlottedKey: Hashable, Sendable {
    let pair: EnclaveKeyPair
    /// SHA-256 of the public key, 32 bytes.
    let identifier: [UInt8]

    init(_ pair: EnclaveKeyPair) throws(SignInError) {
        self.pair = pair
        identifier = try Digest.sha256(Array(pair.publicKey))
    }

    /// Whether the key is bound to fingers or faces that are no longer the enrolled ones. Never prompts.
    ///
    /// The keychain finds such a key, but refuses its use and each change of it. A change of another key would need a
    /// prompt, which is not allowed here, so nothing is changed.
    var isBoundToFormerFingers: Bool {
        let context = LAContext()
        context.interactionNotAllowed = true
        var query = KeySlots.query(pair.tag)
        query[kSecUseAuthenticationContext as String] = context
        return SecItemUpdate(query as CFDictionary, [kSecAttrLabel as String: pair.tag] as CFDictionary)
            == errSecAuthFailed
    }
}

/// The keys of one user at one relying party: one, and during a rotation two.
///
/// The former key is deleted when the server has confirmed the new one. If the process ends in between, both remain, and a
/// sign-in shows which one the server knows.
struct KeySlots: Sendable {
    private let tags: [String]

    init(user: String, relyingPartyID: String) throws(SignInError) {
        try Arguments.checkUser(user)
        // Neither part before the user's name contains a space, so different users and parties have different tags.
        tags = ["a", "b"].map { "org.latchkey.sign-in.\($0) \(relyingPartyID) \(user)" }
    }

    /// The key besides another one, from a rotation that was not confirmed; nil if there is none.
    func other(than key: SlottedKey) throws(SignInError) -> SlottedKey? { try all().first { $0 != key } }

    /// Creates the first key.
    func create(_ protection: KeychainProtection) async throws(SignInError) -> SlottedKey {
        guard try all().isEmpty else { throw SignInError(.alreadyRegistered) }
        return try await create(tags[0], protection)
    }

    /// Creates the key that replaces another one.
    func create(toReplace key: SlottedKey, _ protection: KeychainProtection) async throws(SignInError) -> SlottedKey {
        // The server may know only the key of an earlier rotation, so it is not overwritten.
        guard try other(than: key) == nil else { throw SignInError(.outcomeUnknown(.rotation)) }
        return try await create(key.pair.tag == tags[0] ? tags[1] : tags[0], protection)
    }

    /// Deletes one key.
    func remove(_ key: SlottedKey) throws(SignInError) { try remove(key.pair.tag) }

    /// Deletes all keys.
    func removeAll() throws(SignInError) { for tag in tags { try remove(tag) } }

    /// All keys, the first one first.
    func all() throws(SignInError) -> [SlottedKey] {
        var keys: [SlottedKey] = []
        for tag in tags { if let key = try find(tag) { keys.append(key) } }
        return keys
    }

    fileprivate static func query(_ tag: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: Data(tag.utf8),
            kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave, kSecUseDataProtectionKeychain as String: true,
        ]
    }

    private func find(_ tag: String) throws(SignInError) -> SlottedKey? {
        let pair: EnclaveKeyPair?
        do throws(KeychainError) {
            pair = try EnclaveKeyPair.find(tag: tag)
        } catch {
            throw SignInError(keychain: error)
        }
        guard let pair else { return nil }
        return try SlottedKey(pair)
    }

    private func create(_ tag: String, _ protection: KeychainProtection) async throws(SignInError) -> SlottedKey {
        let pair: EnclaveKeyPair
        do throws(KeychainError) {
            pair = try await EnclaveKeyPair.createSuspending(tag: tag, protection: protection)
        } catch {
            throw SignInError(creating: error)
        }
        return try SlottedKey(pair)
    }

    private func remove(_ tag: String) throws(SignInError) {
        do throws(KeychainError) {
            try EnclaveKeyPair.remove(tag: tag)
        } catch {
            throw SignInError(keychain: error)
        }
    }
}
