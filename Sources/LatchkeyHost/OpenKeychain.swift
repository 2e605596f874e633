// SPDX-License-Identifier: Apache-2.0

package import LatchkeyKeychain
package import LatchkeyModel
package import LatchkeySeams

/// What opening a store needs to know besides its drivers.
package struct StoreIdentity: Sendable {
    package var tier: Tier
    package var userID: UInt32
    /// Exponent of scrypt's cost for passcodes: 15 where secrets matter.
    package var passcodeCost: UInt8

    /// Makes an identity.
    package init(tier: Tier, userID: UInt32, passcodeCost: UInt8 = 15) {
        self.tier = tier
        self.userID = userID
        self.passcodeCost = passcodeCost
    }

    /// Writes the first records into a new, empty store.
    package func create(
        in store: any ItemStore, rootKey: SecretBytes, random: any RandomSource
    ) throws(Failure) {
        let header = StoreHeader(tier: tier, userID: userID, storeID: try random.bytes(16).copyBytes())
        try KeyTree.create(in: store, rootKey: rootKey, header: header, random: random)
    }

    /// Opens the keychain of a store that exists.
    package func open(
        _ store: any ItemStore, vault: any KeyVault, clock: any Clock, random: any RandomSource
    ) throws(Failure) -> Keychain {
        let tree = try KeyTree.open(
            store, rootKey: vault.rootKey(), tier: tier, userID: userID, random: random, scryptCost: passcodeCost)
        let enrolments = try EnrolmentKeys(tree: tree, vault: vault)
        return try Keychain(tree: tree, enrolments: enrolments, clock: clock)
    }
}
