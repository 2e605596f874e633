// SPDX-License-Identifier: Apache-2.0

package import LatchkeyKeychain
package import LatchkeyModel
package import LatchkeySeams

/// What opening a store needs to know besides its drivers.
package struct StoreIdentity: Sendable {
    package var tier: Tier
    package var userID: UInt32
    /// Exponent of scrypt's cost for passcodes and apps' passwords; 10 in tests. 16 takes 64 MiB and 160 to 250 ms.
    package var passcodeCost: UInt8

    /// Makes an identity.
    package init(tier: Tier, userID: UInt32, passcodeCost: UInt8 = 16) {
        self.tier = tier
        self.userID = userID
        self.passcodeCost = passcodeCost
    }

    /// Writes the first records into a new, empty store.
    /// - Returns: what belongs beside the database.
    package func create(
        in store: any ItemStore, rootKey: SecretBytes, random: any RandomSource
    ) throws(Failure) -> NewStoreFiles {
        let header = StoreHeader(tier: tier, userID: userID, storeID: try random.bytes(16).copyBytes())
        return try KeyTree.create(in: store, rootKey: rootKey, header: header, random: random)
    }

    /// The same for a vault that has the root key already.
    package func create(
        in store: any ItemStore, vault: any KeyVault, random: any RandomSource
    ) throws(Failure) {
        let files = try create(in: store, rootKey: vault.rootKey(), random: random)
        try vault.replaceAnchor(files.anchor)
        try vault.overwriteCounterSlot(0, with: files.counters)
    }

    /// Opens the keychain of a store that exists.
    package func open(
        _ store: any ItemStore, vault: any KeyVault, clock: any Clock, random: any RandomSource
    ) throws(Failure) -> Keychain {
        let tree = try KeyTree.open(
            store, rootKey: vault.rootKey(), tier: tier, userID: userID, random: random, scryptCost: passcodeCost)
        return try Keychain(tree: tree, vault: vault, clock: clock)
    }
}
