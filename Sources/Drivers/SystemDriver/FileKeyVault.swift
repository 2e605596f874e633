// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySeams
import LatchkeySystem
import Synchronization

/// Stores root key, anchor and counters as files of the store's owner, mode 0600.
package final class FileKeyVault: KeyVault {
    private let folder: StoreFolder

    package init(_ folder: StoreFolder) { self.folder = folder }

    private static let mark = FileMark.rootKey.bytes

    /// Encodes `root.key`: a line that names the format, then the key.
    static func encode(_ key: SecretBytes) -> SecretBytes {
        SecretBytes(count: mark.count + key.count) { target in
            target.copyBytes(from: mark)
            key.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[mark.count...]).copyMemory(from: $0) }
        }
    }

    /// Files have no number of their own: every one of them can be restored.
    package var counter: (any MonotonicCounter)? { nil }
    package var enrolmentSeal: (any EnrolmentSeal)? { nil }

    package func rootKey() throws(Failure) -> SecretBytes {
        guard let file = try read(folder.rootKey) else {
            throw Failure(
                .rootKeyMissing, "\(folder.rootKey) is missing: the store cannot be decrypted without it.",
                hint: "Restore root.key from a backup.")
        }
        guard !file.withBytes({ $0.starts(with: FileMark.sealedRootKey.bytes) }) else {
            throw Failure(
                .storeOfAnotherTier, "\(folder.rootKey) is sealed by a TPM: the store was made in tier tpm.",
                hint: "Start the service with the tier that the store was made with.")
        }
        guard file.count == Self.mark.count + 32, file.withBytes({ $0.starts(with: Self.mark) }) else {
            throw Failure(
                .storeUnreadable, "\(folder.rootKey) is not a root key of this version.",
                hint: "Restore root.key from a backup.")
        }
        return file.withBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[Self.mark.count...])) }
    }

    package func anchor() throws(Failure) -> SecretBytes? { try read(folder.anchor) }

    package func replaceAnchor(_ anchor: SecretBytes) throws(Failure) {
        do throws(SystemError) {
            try Files.replace(folder.anchor, with: anchor)
        } catch {
            throw Failure(error, "\(folder.anchor) cannot be written")
        }
    }

    package func counterSlots() throws(Failure) -> [[UInt8]]? {
        do throws(SystemError) {
            return try CounterSlots.read(folder.counters)
        } catch {
            throw Self.unavailable(error, folder.counters)
        }
    }

    package func overwriteCounterSlot(_ index: Int, with bytes: [UInt8]) throws(Failure) {
        do throws(SystemError) {
            try CounterSlots.overwrite(folder.counters, index, with: bytes)
        } catch {
            throw Failure(error, "\(folder.counters) cannot be written")
        }
    }

    private func read(_ path: String) throws(Failure) -> SecretBytes? {
        do throws(SystemError) {
            return try Files.read(path, limit: 4096)
        } catch {
            throw Self.unavailable(error, path)
        }
    }

    /// A file that exists and cannot be read is not a missing one: nothing may be created or discarded in its place.
    private static func unavailable(_ error: SystemError, _ path: String) -> Failure {
        let cause = Failure(error, "\(path) cannot be read")
        // A file that is too large, or a link, was put there by another program; reading it again cannot succeed.
        if error.code == EFBIG || error.code == ELOOP { return cause }
        return Failure(
            .vaultUnavailable, cause.message, hint: "Make it a readable file of the store's owner.", cause: error)
    }
}

/// Stores root key, anchor and counters in memory, for tests.
package final class MemoryKeyVault: KeyVault {
    private struct State: Sendable {
        var anchor: SecretBytes?
        var slots: [[UInt8]]?
    }
    private let key: SecretBytes
    private let state = Mutex(State())

    /// Makes a vault with that root key, without anchor and counters.
    package init(rootKey: SecretBytes) { key = rootKey }

    package var counter: (any MonotonicCounter)? { nil }
    package var enrolmentSeal: (any EnrolmentSeal)? { nil }

    package func rootKey() throws(Failure) -> SecretBytes { key }
    package func anchor() throws(Failure) -> SecretBytes? { state.withLock { $0.anchor } }
    package func replaceAnchor(_ anchor: SecretBytes) throws(Failure) { state.withLock { $0.anchor = anchor } }
    package func counterSlots() throws(Failure) -> [[UInt8]]? { state.withLock { $0.slots } }
    package func overwriteCounterSlot(_ index: Int, with bytes: [UInt8]) throws(Failure) {
        state.withLock { state in
            var slots = state.slots ?? [[], []]
            slots[index] = bytes
            state.slots = slots
        }
    }
}
