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
/// sign-in shows which one the server knows. Functions that are not asynchronous block for a few round trips to the system.
struct KeySlots: Sendable {
    private let tags: [String]

    init(user: String, relyingPartyID: String) throws(SignInError) {
        try Arguments.checkUser(user)
        // Neither part before the user's name contains a space, so different users and parties have different tags.
        tags = ["a", "b"].map { "org.latchkey.sign-in.\($0) \(relyingPartyID) \(user)" }
    }

    /// The key besides another one, from a rotation that was not confirmed; nil if there is none.
    func other(than key: SlottedKey) throws(SignInError) -> SlottedKey? { try all().first { $0 != key } }

    func create(_ protection: KeychainProtection) async throws(SignInError) -> SlottedKey {
        let keys = try await KeychainStore.inBackground { () throws(SignInError) in try all() }
        guard keys.isEmpty else { throw SignInError(.alreadyRegistered) }
        return try await create(tags[0], protection)
    }

    /// Creates the key that replaces another one.
    func create(toReplace key: SlottedKey, _ protection: KeychainProtection) async throws(SignInError) -> SlottedKey {
        // The server may know only the key of an earlier rotation, so it is not overwritten.
        let other = try await KeychainStore.inBackground { () throws(SignInError) in try self.other(than: key) }
        guard other == nil else { throw SignInError(.outcomeUnknown(.rotation)) }
        return try await create(key.pair.tag == tags[0] ? tags[1] : tags[0], protection)
    }

    /// Deletes a key that the server does not know, without blocking a thread of the pool.
    ///
    /// - Returns: whether it is deleted. If the keychain fails, the key remains in its slot: the first sign-in with another
    ///   key after `finalSeconds` deletes it, and after a refused registration `remove()` does. So the failure does not
    ///   replace the result of the operation whose last step this is.
    @discardableResult
    func discard(_ key: SlottedKey) async -> Bool {
        await KeychainStore.inBackground { () -> Bool in
            do throws(SignInError) {
                try remove(key.pair.tag)
                return true
            } catch {
                return false
            }
        }
    }

    /// Deletes the second key of a rotation when the server has accepted the first one, or the reverse.
    ///
    /// The request of the rotation can still be under way, for example delayed by an attacker. When it arrives, the server
    /// revokes the key that it knows now and knows this one only. So the key is kept until no server accepts the request.
    ///
    /// - Parameter now: the time of this machine.
    func discard(_ key: SlottedKey, ifFinalAt now: Date) async {
        let created = await KeychainStore.inBackground { creationDate(of: key) }
        guard let created, now.timeIntervalSince(created) > Self.finalSeconds else { return }
        await discard(key)
    }

    /// After this time no server accepts a rotation to a key. It is longer than the time from the creation of the key to its
    /// challenge (`RelyingPartyServer.timeout`), the life of the challenge, and what the clocks may differ at both ends
    /// (`ServerChallenge`).
    private static let finalSeconds: TimeInterval = 3600

    /// When a key was created; nil if it is not there or the keychain cannot be used. Never prompts.
    func creationDate(of key: SlottedKey) -> Date? {
        var query = Self.query(key.pair.tag)
        query[kSecReturnAttributes as String] = true
        var result: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess else { return nil }
        return (result as? [String: Any])?[kSecAttrCreationDate as String] as? Date
    }

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
            throw await KeychainStore.inBackground { SignInError(creating: error) }
        }
        return try SlottedKey(pair)
    }

    private func remove(_ tag: String) throws(SignInError) {
        do throws(KeychainError) { try EnclaveKeyPair.remove(tag: tag) } catch { throw SignInError(keychain: error) }
    }
}
