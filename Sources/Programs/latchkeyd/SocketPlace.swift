// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// Chooses where the daemon listens: in the user's runtime folder, else in the store, else in a folder below /tmp.
enum SocketPlace {
    /// Returns a path of at most `Sockets.pathBytes` bytes in a folder that belongs to the user.
    static func choose(store: String) throws(Failure) -> String {
        // A user may have several stores, each with its own socket.
        let name = "/" + String(store.utf8.shortHash, radix: 16) + ".sock"
        if let folder = StoreLocation.runtimeFolder, fits(folder + name), isMade(folder) { return folder + name }
        if fits(store + "/daemon.sock") { return store + "/daemon.sock" }
        let folder = "/tmp/latchkey-\(geteuid())"
        try Files.makePrivateFolder(folder)
        return folder + name
    }

    private static func isMade(_ folder: String) -> Bool {
        do throws(Failure) {
            try Files.makePrivateFolder(folder)
            return true
        } catch {
            return false
        }
    }

    private static func fits(_ path: String) -> Bool { path.utf8.count <= Sockets.pathBytes }
}
