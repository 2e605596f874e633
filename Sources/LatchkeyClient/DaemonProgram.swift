// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
import LatchkeySystem

/// Locates the program `latchkeyd`.
package enum DaemonProgram {
    /// The first path that is executable: `LATCHKEY_DAEMON`, beside this program, in the prefix of the SDK that
    /// contains this library, or in the user's or the system's libexec folder.
    package static func find() throws(Failure) -> String {
        try Environment.requireText("LATCHKEY_DAEMON")
        let candidates = candidates()
        guard let program = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw Failure(
                .daemonUnavailable, "latchkeyd is not installed: looked for \(candidates.joined(separator: ", ")).",
                hint: "Install it with: make install PREFIX=~/.local")
        }
        return program
    }

    private static func candidates() -> [String] {
        if let chosen = Environment.value("LATCHKEY_DAEMON") { return [chosen] }
        var candidates: [String] = []
        if let executable = Environment.executable {
            let folder = Files.folder(of: executable)
            candidates.append(folder + "/latchkeyd")
            // An installed command: PREFIX/bin beside PREFIX/libexec.
            candidates.append(Files.folder(of: folder) + "/libexec/latchkeyd")
        }
        // An installed SDK: the library is in PREFIX/lib/latchkey/sdk.
        if let library = Environment.library {
            let prefix = (0..<4).reduce(library) { path, _ in Files.folder(of: path) }
            candidates.append(prefix + "/libexec/latchkeyd")
        }
        // With HOME of another user, as root may have it after su(1), that user would choose the program.
        if let home = Environment.home, let (_, owner) = Files.nearestParent(of: home + "/.local/libexec/latchkeyd"),
            [0, geteuid()].contains(owner)
        {
            candidates.append(home + "/.local/libexec/latchkeyd")
        }
        candidates.append("/usr/libexec/latchkeyd")
        return candidates
    }
}
