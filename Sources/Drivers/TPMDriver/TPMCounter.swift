// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import TPMProtocol

/// The counter of one store in the memory of a TPM, which restoring files does not restore. A program with access to the
/// TPM can increment or remove it; the store is refused then, and no older one is accepted.
final class TPMCounter: MonotonicCounter {
    private let chip: TPMChip
    /// The file of the sealed root key, which names the storage root key.
    private let path: String
    private let policy: Result<[UInt8], Failure>

    /// Creates a counter of the store whose root key is at `path`.
    ///
    /// - Parameters:
    ///   - owner: what the counter belongs to, see `TPMKeyVault.init`.
    ///   - label: tells the counters of one store from each other.
    init(_ chip: TPMChip, rootKey path: String, owner: [UInt8], _ label: CryptographicLabel = .counterPolicy) {
        (self.chip, self.path) = (chip, path)
        policy = Result { () throws(Failure) in try Self.policy(of: owner, label) }
    }

    static let labels: [CryptographicLabel] = [.counterPolicy, .enrolmentCounterPolicy]

    /// The policy of the counter of an owner. No session can fulfil it: it is the digest of a text, not of policy commands.
    /// It tells the counter from those of other stores, and so that the password of the counter cannot be changed.
    static func policy(of owner: [UInt8], _ label: CryptographicLabel) throws(Failure) -> [UInt8] {
        try DigestAlgorithm.sha256.hash(label.bytes + [0] + owner)
    }

    func value() throws(Failure) -> UInt64? {
        try use { (client, policy, root) throws(TPMError) in
            guard let area = try client.writtenCounter(policy) else { return nil }
            return try client.number(of: area, in: root)
        }
    }

    func create() throws(Failure) -> UInt64 {
        try use { (client, policy, root) throws(TPMError) in
            var area: TPMIndexArea
            if let found = try client.counterIndex(policy) {
                area = found
            } else {
                area = try client.defineCounter(policy, in: root)
            }
            // One that was defined and never incremented was left over when its creation was interrupted.
            if !area.attributes.contains(.written) { area = try client.increment(area, in: root) }
            return try client.number(of: area, in: root)
        }
    }

    func increment() throws(Failure) -> UInt64 {
        try use { (client, policy, root) throws(TPMError) in
            guard let area = try client.writtenCounter(policy) else {
                throw TPMError.failed(
                    Failure(
                        .anchorGone, "The counter of the store does not exist in the TPM.",
                        hint: "It was removed, or the TPM was cleared. See: latchkey check --accept"))
            }
            return try client.number(of: client.increment(area, in: root), in: root)
        }
    }

    /// Removes the counter of an owner; does nothing if there is none. The file of the root key, which may be gone or not
    /// written yet, is not needed.
    static func remove(
        of owner: [UInt8], _ label: CryptographicLabel = .counterPolicy, from chip: TPMChip
    ) throws(Failure) {
        let policy = try policy(of: owner, label)
        try chip.use { (_, client) throws(TPMError) in
            guard let area = try client.counterIndex(policy) else { return }
            try client.undefine(area, in: client.storageRoot(named: nil))
        }
    }

    /// Uses the chip with the storage root key of the store; before the store is finished, with the one that is there.
    func use<R: Sendable>(_ body: (inout TPMClient, [UInt8], StorageRoot) throws(TPMError) -> R) throws(Failure) -> R {
        let (policy, path) = (try policy.get(), path)
        let parent = try SealedRootKey.read(path)?.parent
        return try chip.use { (_, client) throws(TPMError) in
            do throws(TPMError) {
                return try body(&client, policy, client.storageRoot(named: parent))
            } catch {
                throw error.inVault(path)
            }
        }
    }
}

extension TPMClient {
    mutating func writtenCounter(_ policy: [UInt8]) throws(TPMError) -> TPMIndexArea? {
        guard let area = try counterIndex(policy), area.attributes.contains(.written) else { return nil }
        return area
    }
}
