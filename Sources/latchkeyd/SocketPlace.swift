// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// Where the daemon listens: in the user's runtime folder, else beside the store, else in a folder of its own.
enum SocketPlace {
    /// A path that is short enough, in a folder that is the user's own.
    static func choose(store: String) throws(Failure) -> String {
        // The name tells the stores of one user apart.
        let name = "/" + hash(store) + ".sock"
        if let runtime = Environment.value("XDG_RUNTIME_DIR"), runtime.hasPrefix("/"), Files.exists(runtime) {
            let folder = runtime + "/latchkey"
            if fits(folder + name), isMade(folder) { return folder + name }
        }
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

    /// FNV-1a: a name, not a secret.
    private static func hash(_ text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}
