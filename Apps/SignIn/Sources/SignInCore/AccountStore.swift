// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit

/// Keeps the account as an item of the keychain, beside the key that it describes, so that both are of one device.
struct AccountStore: Sendable {
    private let keychain = KeychainStore()
    private let entry: KeychainEntry

    init(service: String) { entry = .password(service: service, account: "account") }

    /// The account; nil when the device is not registered.
    func load() async throws(KeychainError) -> Account? {
        do throws(KeychainError) {
            return try await keychain.value(Account.self, of: entry, prompt: .never)
        } catch {
            guard error.kind == .itemNotFound else { throw error }
            return nil
        }
    }

    func save(_ account: Account) async throws(KeychainError) {
        try await keychain.store(
            encoding: account, in: entry, protection: KeychainProtection(.whenUnlockedThisDeviceOnly), prompt: .never)
    }

    func remove() async throws(KeychainError) { try await keychain.remove(entry) }
}
