// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import LatchkeySystem

/// Root key and enrolment record as files of the store's owner, mode 0600.
package final class FileKeyVault: KeyVault {
    private let folder: StoreFolder

    /// Uses the files of that folder.
    package init(_ folder: StoreFolder) { self.folder = folder }

    private static let mark = FileMark.rootKey.bytes

    /// The bytes of `root.key`: a line that names the format, then the key.
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

    package func enrolmentRecord() throws(Failure) -> SecretBytes? { try read(folder.enrolment) }

    package func replaceEnrolmentRecord(_ record: SecretBytes) throws(Failure) {
        do throws(SystemError) {
            try Files.replace(folder.enrolment, with: record)
        } catch {
            throw Failure(error, "\(folder.enrolment) cannot be written")
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

/// Root key and enrolment record in memory: for stores that last as long as a test.
package final class MemoryKeyVault: KeyVault, @unchecked Sendable {
    // One engine owns the vault and calls it from one thread at a time.
    private let key: SecretBytes
    private var record: SecretBytes?

    /// Takes the root key.
    package init(rootKey: SecretBytes) { key = rootKey }

    package func rootKey() throws(Failure) -> SecretBytes { key }
    package func enrolmentRecord() throws(Failure) -> SecretBytes? { record }
    package func replaceEnrolmentRecord(_ record: SecretBytes) throws(Failure) { self.record = record }
}
