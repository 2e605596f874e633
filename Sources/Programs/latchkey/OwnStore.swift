// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// The folder of the user's own store, and its state according to the files in it.
struct OwnStore {
    /// The files that hold keys; they are overwritten and removed first.
    static let secrets = ["root.key.moved", "anchor", "anchor.new"]

    let folder: String
    /// Whether programs use this store.
    let isInUse: Bool
    /// Whether its items were moved to the system's keychain.
    let wasMoved: Bool

    /// Looks at the folder; throws if `LATCHKEY_HOME` chose it, because programs would go on using it.
    init() throws(Failure) {
        guard Environment.value("LATCHKEY_HOME") == nil else {
            throw Failure(
                .notPermitted, "LATCHKEY_HOME is set, so programs do not use the system's keychain.",
                hint: "Run the command without it: env -u LATCHKEY_HOME latchkey migrate")
        }
        self.init(try StoreLocation.folder())
    }

    /// Looks at a folder; it need not exist.
    init(_ folder: String) {
        self.folder = folder
        isInUse = Files.exists(folder + "/root.key")
        wasMoved = !isInUse && Files.exists(folder + "/root.key.moved")
    }

    /// The removal of the folder of a store that was moved. Throws if it was not moved, or if its daemon still runs.
    func removal() throws(Failure) -> FolderRemoval {
        guard !isInUse else {
            throw Failure(
                .notPermitted, "The store in \(folder) is in use.", hint: "Move it first with: latchkey migrate")
        }
        guard wasMoved else { throw Failure(.itemNotFound, "There is no store that was moved.") }
        guard !DaemonLock.isTaken(try DaemonLock.open(folder)) else {
            throw Failure(.notPermitted, "The daemon of the store is still running.", hint: "Try again.")
        }
        guard let removal = try FolderRemoval(Files.name(of: folder), in: Files.folder(of: folder), owner: geteuid())
        else { throw Failure(.itemNotFound, "There is no store that was moved.") }
        return removal
    }
}
