// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel

/// The location of the user's store, as daemon and clients determine it.
package enum StoreLocation {
    /// The store's folder: `LATCHKEY_HOME`, or `latchkey` in the user's data folder.
    ///
    /// - Throws: `noHome` when there is none, or when it would be made in the folder of another user: root with `HOME` of a
    ///   person (su, sudo -E) would leave a folder there that locks the person out.
    package static func folder() throws(Failure) -> String {
        for name in ["LATCHKEY_HOME", "XDG_DATA_HOME", "HOME"] { try Environment.requireText(name) }
        if let chosen = Environment.value("LATCHKEY_HOME") {
            guard chosen.hasPrefix("/") else {
                throw Failure(
                    .noHome, "LATCHKEY_HOME is not an absolute path.", hint: "Set it to a path that begins with /.")
            }
            return chosen
        }
        if let data = Environment.value("XDG_DATA_HOME"), data.hasPrefix("/") {
            return try own(data + "/latchkey", "XDG_DATA_HOME")
        }
        guard let home = Environment.home else {
            throw Failure(
                .noHome, "There is no home folder for the store.",
                hint: "Set HOME, or LATCHKEY_HOME to a folder of yours.")
        }
        return try own(home + "/.local/share/latchkey", "HOME")
    }

    /// Whether the folder is in the home of the user database, because no variable names one.
    package static var isWithoutVariables: Bool {
        Environment.value("LATCHKEY_HOME") == nil
            && !["XDG_DATA_HOME", "HOME"].contains { Environment.value($0)?.hasPrefix("/") == true }
    }

    /// The folder for the sockets of this user in the runtime folder, `XDG_RUNTIME_DIR`; nil if there is no runtime folder,
    /// or if it is that of another user, as after su(1).
    package static var runtimeFolder: String? {
        guard let runtime = Environment.value("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") else { return nil }
        let folder = runtime + "/latchkey"
        guard let (parent, owner) = Files.nearestParent(of: folder), parent == runtime, owner == geteuid() else {
            return nil
        }
        return folder
    }

    /// The path of a folder that exists, or is made below one of this user or of root.
    private static func own(_ path: String, _ variable: String) throws(Failure) -> String {
        // In a folder of root the permissions decide.
        guard !Files.exists(path), let (parent, owner) = Files.nearestParent(of: path), ![0, geteuid()].contains(owner)
        else { return path }
        throw Failure(
            .noHome, "\(parent), to which \(variable) leads, belongs to user \(owner), not to you (\(geteuid())).",
            hint: "Set \(variable) to a folder of yours, as sudo -H and su - do, or LATCHKEY_HOME.")
    }
}
