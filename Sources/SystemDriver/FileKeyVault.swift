// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import LatchkeySystem

/// Stores root key, anchor and counters as files of the store's owner, mode 0600.
package final class FileKeyVault: KeyVault {
    private let folder: StoreFolder

    /// Makes a vault for the files of that folder.
    package init(_ folder: StoreFolder) { self.folder = folder }

    private static let mark = FileMark.rootKey.bytes

    /// Encodes `root.key`: a line that names the format, then the key.
    static func encode(_ key: SecretBytes) -> SecretBytes {
        SecretBytes(count: mark.count + key.count) { target in
            target.copyBytes(from: mark)
            key.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[mark.count...]).copyMemory(from: $0) }
        }
    }

    package func rootKey() throws(Failure) -> SecretBytes {
        guard let file = try read(folder.rootKey), file.count == Self.mark.count + 32,
            file.withBytes({ $0.starts(with: Self.mark) })
        else {
            throw Failure(
                .storeUnreadable, "\(folder.rootKey) is missing or not a root key of this version.",
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
            throw Failure(error, "\(folder.counters) cannot be read")
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
            throw Failure(error, "\(path) cannot be read")
        }
    }
}
