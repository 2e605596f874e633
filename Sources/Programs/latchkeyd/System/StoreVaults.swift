// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import SQLiteDriver
import SystemDriver
import TPMDriver

/// Where the root keys and the counters of the users' stores are.
enum StoreVaults: Sendable {
    /// In files of the service's user.
    case files
    /// In the TPM.
    case tpm(SealedVaults)

    /// The recovery of the root key of a user's store; nil where no recovery code opens it.
    func recovery(_ folder: StoreFolder, _ userID: UInt32) -> (any RecoverableVault)? {
        switch self {
        case .files: nil
        case .tpm(let vaults): UserRecovery(vaults: vaults, folder: folder, userID: userID)
        }
    }

    /// Opens the store of a user, which is created first if it does not exist.
    func open(
        _ folder: StoreFolder, _ identity: StoreIdentity, clock: any Clock, random: any RandomSource
    ) throws(Failure) -> Keychain {
        let vault: any KeyVault
        switch self {
        case .files:
            vault = FileKeyVault(folder)
            try folder.prepare { () throws(Failure) in
                try random.bytes(32)
            } build: { (path, rootKey) throws(Failure) in
                try identity.create(in: SQLiteItemStore.create(at: path), rootKey: rootKey, random: random)
            }
        case .tpm(let vaults):
            let sealed = try vaults.vault(folder, identity.userID)
            vault = sealed
            try folder.prepare { () throws(Failure) in
                try random.bytes(32)
            } build: { (path, rootKey) throws(Failure) in
                try identity.create(
                    in: SQLiteItemStore.create(at: path), rootKey: rootKey,
                    generation: sealed.createCounters(), random: random)
            } encode: { (key) throws(Failure) in
                try sealed.seal(key, vaults.binding, recoveryCode: nil)
            }
        }
        return try identity.open(SQLiteItemStore.open(folder.database), vault: vault, clock: clock, random: random)
    }
}

/// The recovery of a user's store, whose vault is made for each call: the configuration may forbid the TPM.
private struct UserRecovery: RecoverableVault {
    let vaults: SealedVaults
    let folder: StoreFolder
    let userID: UInt32

    private func sealed() throws(Failure) -> SealedRecovery {
        SealedRecovery(try vaults.vault(folder, userID), vaults.binding, copy: folder.recoveryCopy)
    }

    func opens(_ key: SecretBytes) throws(Failure) -> Bool { try sealed().opens(key) }
    func hasCode() throws(Failure) -> Bool { try sealed().hasCode() }
    func persist(_ key: SecretBytes?) throws(Failure) { try sealed().persist(key) }
    func recover(_ key: SecretBytes, replacement: SecretBytes) throws(Failure) -> Bool {
        try sealed().recover(key, replacement: replacement)
    }
    func copy() throws(Failure) -> [UInt8] { try sealed().copy() }
    func persist(copy: [UInt8]) throws(Failure) { try sealed().persist(copy: copy) }
}

/// The vaults of all users in one TPM.
struct SealedVaults: Sendable {
    var chip: TPMChip
    var binding: TPMKeyVault.Binding
    /// Whether the TPM may be a program.
    var allowsVirtual: Bool
    /// The file in which root can allow that.
    var configuration: String
    /// The file that identifies the installed system, so that two systems of one machine have counters of their own.
    var machine = "/etc/machine-id"

    /// Returns the vault of a user. Throws `enclaveUnavailable` for a TPM that is a program and not allowed.
    func vault(_ folder: StoreFolder, _ userID: UInt32) throws(Failure) -> TPMKeyVault {
        if !allowsVirtual { try chip.checkHardware(configuration) }
        return TPMKeyVault(
            FileKeyVault(folder), rootKey: folder.rootKey, chip: chip,
            owner: try TPMKeyVault.owner(userID, machine: machine))
    }
}
