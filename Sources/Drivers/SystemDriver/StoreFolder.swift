// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import LatchkeySystem

/// The folder of one store, and the order in which its files are created.
///
/// `root.key` marks a finished store: it is written after all other files, and then the new database is renamed to its
/// final name. Once `root.key` exists, all other files must exist; a missing or truncated one is an error and is never
/// replaced by an empty one.
package struct StoreFolder: Sendable {
    package let path: String

    /// Stores the path; does not access the folder.
    package init(_ path: String) { self.path = path }

    package var database: String { path + "/keychain.sqlite" }
    package var rootKey: String { path + "/root.key" }
    /// The root key of a store whose items were moved to the system's keychain.
    package var movedRootKey: String { path + "/root.key.moved" }
    package var anchor: String { path + "/anchor" }
    package var counters: String { path + "/counters" }
    /// The records of latchkey-authd's recovery codes, in tier `tpm`.
    package var recoveryCopy: String { path + "/recovery" }
    package var lock: String { path + "/daemon.lock" }
    package var configuration: String { path + "/latchkeyd.conf" }
    package var world: String { path + "/simulator.state" }

    /// Creates the store if it does not exist. After a crash at any point, the next call completes the creation.
    ///
    /// - Parameters:
    ///   - newRootKey: makes the root key of a new store.
    ///   - build: writes a complete database at the given path, for the given root key, and returns the contents of
    ///     the files beside it.
    ///   - encode: makes the contents of `root.key`; by default the key itself.
    /// - Throws: `rootKeyMissing` when only the database exists, `storeUnreadable` when only the root key exists.
    package func prepare(
        newRootKey: () throws(Failure) -> SecretBytes, build: (String, SecretBytes) throws(Failure) -> NewStoreFiles,
        encode: (SecretBytes) throws(Failure) -> SecretBytes = FileKeyVault.encode
    ) throws(Failure) {
        try Files.makePrivateFolder(path)
        let built = database + ".new"
        switch (Files.exists(rootKey), Files.exists(database)) {
        case (true, true): return
        case (true, false):
            // A crash between writing the root key and renaming the database leaves the complete database under its
            // temporary name.
            guard Files.exists(built) else {
                throw Failure(
                    .storeUnreadable, "\(database) is missing, but its root key exists.",
                    hint: "Restore keychain.sqlite from a backup, or move root.key away to begin with an empty store.")
            }
            try rename(built)
        case (false, true) where Files.exists(movedRootKey):
            throw Failure(
                .rootKeyMissing, "The items of \(path) were moved to the system's keychain.",
                hint: "To use this store again, rename root.key.moved in it to root.key.")
        case (false, true):
            throw Failure(
                .rootKeyMissing, "\(rootKey) is missing: the store cannot be decrypted without it.",
                hint: "Restore root.key from a backup, or move keychain.sqlite away to begin with an empty store.")
        case (false, false):
            for suffix in ["", "-wal", "-shm", "-journal"] { Files.remove(built + suffix) }
            let key = try newRootKey()
            // First, so that a device that cannot seal the key leaves nothing behind.
            let encoded = try encode(key)
            // Without a root key these are left over from an interrupted creation.
            for path in [anchor, counters] { Files.remove(path) }
            let files = try build(built, key)
            let vault = FileKeyVault(self)
            try vault.replaceAnchor(files.anchor)
            try vault.overwriteCounterSlot(0, with: files.counters)
            do throws(SystemError) {
                try Files.synchronizeFolder(of: built)
                try Files.replace(rootKey, with: encoded)
            } catch {
                throw Failure(error, "The store cannot be created in \(path)")
            }
            try rename(built)
        }
    }

    /// Marks the store as moved to the system's keychain, durably: without a root key, programs use that keychain.
    package func retire() throws(Failure) {
        do throws(SystemError) {
            try Files.rename(rootKey, to: movedRootKey)
        } catch {
            throw Failure(error, "\(rootKey) cannot be renamed")
        }
    }

    private func rename(_ built: String) throws(Failure) {
        do throws(SystemError) {
            try Files.rename(built, to: database)
        } catch {
            throw Failure(error, "The store cannot be created in \(path)")
        }
    }
}
