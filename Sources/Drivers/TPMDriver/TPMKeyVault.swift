// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
package import LatchkeySeams
import LatchkeySystem
import TPMProtocol

/// A vault whose root key only one TPM can unseal, and whose counter is in that TPM.
///
/// A copy of the files is then worth nothing on another machine, and an older copy is detected on this one: the counter
/// only increments. Anchor and counter slots, which change often and are not sealed by the TPM, are in another vault,
/// `files`.
///
/// The sealed root key is one file. If it or the TPM is lost, only a recovery code opens the store (`RootKeyRecovery`).
package final class TPMKeyVault: KeyVault {
    /// What the TPM needs besides the file to unseal the root key.
    package enum Binding: Sendable {
        /// Nothing.
        case chip
        /// The present state of Secure Boot (PCR 7), which updates of the firmware and the boot loader change.
        case secureBoot
    }

    private let files: any KeyVault
    private let path: String
    private let chip: TPMChip
    private let owner: [UInt8]
    private let ownCounter: TPMCounter
    private let ownSeal: TPMEnrolmentSeal

    /// Creates a vault; does not access the TPM.
    ///
    /// - Parameters:
    ///   - files: has anchor and counter slots.
    ///   - path: the file of the sealed root key.
    ///   - owner: bytes that name the store among all stores that use this TPM, such as the user's number and the
    ///     identifier of the installed system. They are the same each time that this store is opened.
    package init(_ files: any KeyVault, rootKey path: String, chip: TPMChip, owner: [UInt8]) {
        (self.files, self.path, self.chip, self.owner) = (files, path, chip, owner)
        ownCounter = TPMCounter(chip, rootKey: path, owner: owner)
        ownSeal = TPMEnrolmentSeal(TPMCounter(chip, rootKey: path, owner: owner, .enrolmentCounterPolicy))
    }

    package var counter: (any MonotonicCounter)? { ownCounter }

    package var enrolmentSeal: (any EnrolmentSeal)? { ownSeal }

    /// Creates the counters of a new store, both or none.
    ///
    /// - Returns: the number of `counter`.
    package func createCounters() throws(Failure) -> UInt64 {
        let isNew = try ownCounter.value() == nil
        let number = try ownCounter.create()
        do throws(Failure) {
            _ = try ownSeal.counter.create()
        } catch {
            // One that cannot be removed now is used by the next attempt.
            if isNew { try? TPMCounter.remove(of: owner, from: chip) }
            throw error
        }
        return number
    }

    package func rootKey() throws(Failure) -> SecretBytes {
        let (sealed, path) = (try sealed(), path)
        return try chip.use { (memory, client) throws(TPMError) in
            memory.forgetKeys(&client)
            do throws(TPMError) {
                return try client.unseal(sealed, below: client.storageRoot(named: sealed.parent))
            } catch {
                throw error.inVault(path)
            }
        }
    }

    package func anchor() throws(Failure) -> SecretBytes? { try files.anchor() }

    package func replaceAnchor(_ anchor: SecretBytes) throws(Failure) { try files.replaceAnchor(anchor) }

    package func counterSlots() throws(Failure) -> [[UInt8]]? { try files.counterSlots() }

    package func overwriteCounterSlot(_ index: Int, with bytes: [UInt8]) throws(Failure) {
        try files.overwriteCounterSlot(index, with: bytes)
    }

    // MARK: - Sealing

    /// Seals a root key and returns the contents of its file, which the caller writes.
    ///
    /// - Parameter recoveryCode: opens the root key without the TPM, at least 125 random bits; nil for no code.
    package func seal(
        _ rootKey: SecretBytes, _ binding: Binding, recoveryCode: SecretBytes?
    ) throws(Failure) -> SecretBytes {
        let path = path
        let sealed = try chip.use { (memory, client) throws(TPMError) in
            memory.forgetKeys(&client)
            do throws(TPMError) {
                return try client.sealRootKey(rootKey, binding, recoveryCode)
            } catch {
                throw error.inVault(path)
            }
        }
        return try sealed.encoded()
    }

    /// Opens the root key with the recovery code, seals it again to the present TPM and its present state, and replaces
    /// the file. On a failure nothing is changed.
    ///
    /// The counter is not touched: if the TPM is another one, the store is refused until it is accepted.
    ///
    /// - Parameter replacement: the new recovery code, which has been shown and typed.
    /// - Returns: whether the present TPM has another storage root key.
    /// - Throws: `itemAuthenticationFailed` for another code.
    @discardableResult
    package func recover(with code: SecretBytes, _ binding: Binding, replacement: SecretBytes) throws(Failure) -> Bool {
        let before = try sealed()
        let rootKey = try RootKeyRecovery.open(before.recovery, code)
        let file = try seal(rootKey, binding, recoveryCode: replacement)
        try replaceFile(file)
        return try sealed().parent != before.parent
    }

    /// Returns whether the root key has a recovery code.
    func hasCode() throws(Failure) -> Bool { try !sealed().recovery.isEmpty }

    /// Returns whether a recovery code opens the root key.
    func opens(with code: SecretBytes) throws(Failure) -> Bool {
        let sealed = try sealed()
        guard !sealed.recovery.isEmpty else { return false }
        do throws(Failure) {
            _ = try RootKeyRecovery.open(sealed.recovery, code)
            return true
        } catch {
            guard error.status == .itemAuthenticationFailed else { throw error }
            return false
        }
    }

    /// Replaces the recovery code; nil for none. The TPM opens the root key for that, so that the file of another TPM or
    /// an edited one is not made valid.
    func storeRecovery(_ code: SecretBytes?) throws(Failure) {
        let sealed = try sealed()
        var recovery: [UInt8] = []
        if let code {
            let rootKey = try rootKey()
            recovery = try chip.use { (_, client) throws(TPMError) in
                let random = client.random
                return try failing { () throws(Failure) in try RootKeyRecovery.seal(rootKey, code, random) }
            }
        }
        try replaceFile(
            SealedRootKey(
                parent: sealed.parent, area: sealed.area, privatePart: sealed.privatePart, recovery: recovery
            ).encoded())
    }

    private func replaceFile(_ file: SecretBytes) throws(Failure) {
        do throws(SystemError) {
            try Files.replace(path, with: file)
        } catch {
            throw Failure(error, "\(path) cannot be written")
        }
    }

    private func sealed() throws(Failure) -> SealedRootKey {
        guard let sealed = try SealedRootKey.read(path) else {
            throw Failure(
                .rootKeyMissing, "\(path) is missing: the store cannot be decrypted without it.",
                hint: "Restore root.key from a backup.")
        }
        return sealed
    }
}

extension TPMClient {
    /// Seals a root key below the storage root key of this TPM, and checks that it is unsealed again.
    fileprivate mutating func sealRootKey(
        _ rootKey: SecretBytes, _ binding: TPMKeyVault.Binding, _ recoveryCode: SecretBytes?
    ) throws(TPMError) -> SealedRootKey {
        let root = try storageRoot(named: nil)
        let policy: PolicyDigest?
        switch binding {
        case .chip: policy = nil
        case .secureBoot:
            let value = try register(.secureBoot)
            policy = try failing { () throws(Failure) in try PolicyDigest().registers(.secureBoot, values: [value]) }
        }
        let (area, privatePart) = try seal(rootKey, below: root, policy: policy)
        let random = random
        let recovery = try failing { () throws(Failure) in
            guard let recoveryCode else { return [] as [UInt8] }
            return try RootKeyRecovery.seal(rootKey, recoveryCode, random)
        }
        let sealed = SealedRootKey(parent: root.entity.name, area: area, privatePart: privatePart, recovery: recovery)
        // Also shows that the value of the PCR, which was read without a session, is that of this TPM.
        guard try unseal(sealed, below: root) == rootKey else { throw .failed(TPMReader.malformed) }
        return sealed
    }
}
