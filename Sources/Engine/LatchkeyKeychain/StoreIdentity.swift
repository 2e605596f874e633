// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams

/// The owner and the parameters of a store, with which it is created and opened.
package struct StoreIdentity: Sendable {
    package var tier: Tier
    package var userID: UInt32
    /// The account of the user, for tiers that bind stores to accounts.
    package var account: AccountName?
    /// Exponent of scrypt's cost for passcodes and application passwords; 10 in tests. 16 takes 64 MiB and 160 to 250
    /// ms.
    package var passcodeCost: UInt8
    /// How much of the disk the store may use; nil: as much as there is.
    package var quota: StoreQuota?

    package init(tier: Tier, userID: UInt32, account: AccountName? = nil, passcodeCost: UInt8 = 16) {
        self.tier = tier
        self.userID = userID
        self.account = account
        self.passcodeCost = passcodeCost
        quota = StoreQuota.of(tier)
    }

    /// Writes the initial records to a new, empty store.
    ///
    /// - Parameter generation: the number of the vault's counter; 0 for a vault without one.
    /// - Returns: the initial contents of the files outside the database.
    package func create(
        in store: any ItemStore, rootKey: SecretBytes, generation: UInt64 = 0, random: any RandomSource
    ) throws(Failure) -> NewStoreFiles {
        let header = try StoreHeader(
            tier: tier, userID: userID, account: account, storeID: try random.bytes(16).copyBytes())
        return try KeyTree.create(in: store, rootKey: rootKey, header: header, generation: generation, random: random)
    }

    /// Writes the initial records to a new, empty store and the files outside the database to a vault that has a root
    /// key.
    package func create(in store: any ItemStore, vault: any KeyVault, random: any RandomSource) throws(Failure) {
        let rootKey = try vault.rootKey()
        let generation = try vault.counter?.create() ?? 0
        let files = try create(in: store, rootKey: rootKey, generation: generation, random: random)
        try vault.replaceAnchor(files.anchor)
        try vault.overwriteCounterSlot(0, with: files.counters)
    }

    package func open(
        _ store: any ItemStore, vault: any KeyVault, clock: any Clock, random: any RandomSource
    ) throws(Failure) -> Keychain {
        let tree = try KeyTree.open(
            store, rootKey: vault.rootKey(), tier: tier, userID: userID, account: account, random: random,
            scryptCost: passcodeCost)
        return try Keychain(tree: tree, vault: vault, clock: clock, quota: quota)
    }
}
