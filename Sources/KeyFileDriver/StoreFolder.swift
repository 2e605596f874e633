// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import LatchkeySystem

/// The folder of one store, and the order in which its files come to be.
///
/// `root.key` is the mark of a finished store: it is written after everything else but the database's name. Once it is
/// there, the other files have to be there, and a missing or truncated one is an error and never replaced by an empty one.
package struct StoreFolder: Sendable {
    /// The folder.
    package let path: String

    /// Takes the folder; nothing is touched.
    package init(_ path: String) { self.path = path }

    package var database: String { path + "/keychain.sqlite" }
    package var rootKey: String { path + "/root.key" }
    package var anchor: String { path + "/anchor" }
    package var counters: String { path + "/counters" }
    package var lock: String { path + "/daemon.lock" }
    package var configuration: String { path + "/latchkeyd.conf" }
    package var world: String { path + "/simulator.state" }

    /// Makes what is missing: folder, root key, database, so that a crash at any moment is finished next time.
    ///
    /// `build` writes a complete database at the path it is given, for the root key it is given.
    package func prepare(
        newRootKey: () throws(Failure) -> SecretBytes, build: (String, SecretBytes) throws(Failure) -> NewStoreFiles
    ) throws(Failure) {
        try Files.makePrivateFolder(path)
        let built = database + ".new"
        switch (Files.exists(rootKey), Files.exists(database)) {
        case (true, true): return
        case (true, false):
            // The root key is written after the new database is complete and before it gets its name.
            guard Files.exists(built) else {
                throw Failure(
                    .storeUnreadable, "\(database) is missing, and its root key is there.",
                    hint: "Restore keychain.sqlite from a backup, or move root.key away to begin with an empty store.")
            }
            try rename(built)
        case (false, true):
            throw Failure(
                .storeUnreadable, "\(rootKey) is missing: the store cannot be decrypted without it.",
                hint: "Restore root.key from a backup, or move keychain.sqlite away to begin with an empty store.")
        case (false, false):
            for suffix in ["", "-wal", "-shm", "-journal"] { Files.remove(built + suffix) }
            let key = try newRootKey()
            // A store that never had a root key has neither of them.
            for path in [anchor, counters] { Files.remove(path) }
            let files = try build(built, key)
            let vault = FileKeyVault(self)
            try vault.replaceAnchor(files.anchor)
            try vault.overwriteCounterSlot(0, with: files.counters)
            do throws(SystemError) {
                try Files.synchronizeFolder(of: built)
                try Files.replace(rootKey, with: FileKeyVault.encode(key))
            } catch {
                throw Failure(error, "The store cannot be created in \(path)")
            }
            try rename(built)
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
