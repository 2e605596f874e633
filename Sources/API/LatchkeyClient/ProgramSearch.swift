// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
import LatchkeySystem

/// Where the programs in the `libexec` folder of an installation are looked for: the only list of these places, for
/// `latchkeyd` and `latchkey-fingerprint`.
///
/// A prefix that is none of the usual ones is found by `PATH`: it is that of the command `latchkey`, so an app starts the
/// daemon that the command starts. `PATH` is chosen for convenience and may name folders of other users, so a program
/// found through it must belong to root or to this user, as must every folder above it.
package struct ProgramSearch: Sendable {
    package var name: String
    /// The path that the user chose; no other place is looked at then.
    package var chosen: String?
    package var executable: String?
    /// The path of the SDK's library, if the running program has loaded it: `PREFIX/lib/latchkey/sdk/libLatchkey.so`.
    package var library: String?
    package var home: String?
    /// The value of `PATH`.
    package var path: String?
    package var systemPrefixes = ["/usr/local", "/usr"]

    /// Searches the places of this process. A program that runs with more privileges than its caller has no `PATH`
    /// (`Environment`), which the caller chose.
    ///
    /// - Parameter variable: the environment variable with the path that the user chose; nil if there is none.
    /// - Throws: `noHome` if that variable is not UTF-8.
    package init(_ name: String, variable: String? = nil) throws(Failure) {
        if let variable { try Environment.requireText(variable) }
        self.init(
            name: name, chosen: variable.flatMap { Environment.value($0) }, executable: Environment.executable,
            library: Environment.library, home: Environment.home, path: Environment.value("PATH"))
    }

    /// Searches the given places.
    package init(
        name: String, chosen: String? = nil, executable: String? = nil, library: String? = nil, home: String? = nil,
        path: String? = nil
    ) {
        self.name = name
        self.chosen = chosen
        self.executable = executable
        self.library = library
        self.home = home
        self.path = path
    }

    /// The first place with an executable file.
    ///
    /// - Parameter hint: what the failure advises if there is none.
    /// - Throws: `daemonUnavailable` if there is none; its message names every place.
    package func find(hint: Phrase) throws(Failure) -> String {
        var places: [String] = []
        var refused: String?
        for place in self.places {
            places.append(place.path)
            guard access(place.path, X_OK) == 0 else { continue }
            guard place.isFromPath else { return place.path }
            if let program = Self.protected(place.path) { return program }
            refused = refused ?? place.path
        }
        let list = places.joined(separator: ", ")
        if let refused {
            throw Failure(
                .daemonUnavailable,
                "\(refused) is not used: it has to be a file that only root and you can change, as every folder above it. "
                    + "Looked for \(list).", hint: "See who can: namei -l \(refused)")
        }
        guard chosen == nil, path != nil else {
            throw Failure(.daemonUnavailable, "\(name) is not installed: looked for \(list).", hint: hint)
        }
        throw Failure(
            .daemonUnavailable,
            "\(name) is not installed: looked in the prefix of each latchkey in PATH, and for \(list).", hint: hint)
    }

    // MARK: - Places

    private struct Place {
        var path: String
        /// Whether only `PATH` leads there.
        var isFromPath: Bool
    }

    private var places: [Place] {
        if let chosen { return [Place(path: chosen, isFromPath: false)] }
        var own: [String] = []
        if let executable {
            let folder = Files.folder(of: executable)
            // An installed command: PREFIX/bin beside PREFIX/libexec.
            own += [folder + "/" + name, inPrefix(Files.folder(of: folder))]
        }
        if let library { own.append(inPrefix((0..<4).reduce(library) { path, _ in Files.folder(of: path) })) }
        var usual: [String] = []
        // With HOME of another user, as root may have it after su(1), that user would choose the program.
        if let home, case let path = inPrefix(home + "/.local"), let (_, owner) = Files.nearestParent(of: path),
            [0, geteuid()].contains(owner)
        {
            usual.append(path)
        }
        usual += systemPrefixes.map(inPrefix)
        let found = commands.map { inPrefix(Files.folder(of: Files.folder(of: $0))) }
        var seen: Set<String> = []
        return (own + found + usual).filter { seen.insert($0).inserted }.map {
            Place(path: $0, isFromPath: !own.contains($0) && !usual.contains($0))
        }
    }

    private func inPrefix(_ prefix: String) -> String { prefix + "/libexec/" + name }

    /// The commands `latchkey` in the folders of `PATH`, without symbolic links in their paths. A relative folder is
    /// skipped: it would depend on where the program was started.
    private var commands: [String] {
        (path ?? "").split(separator: ":").filter { $0.hasPrefix("/") }.compactMap { folder in
            let command = String(folder) + "/latchkey"
            return access(command, X_OK) == 0 ? Self.resolved(command) : nil
        }
    }

    // MARK: - Protection

    /// The path without symbolic links, if only root and this user can change what it leads to; nil otherwise.
    ///
    /// No other user can rename a folder of it or replace the file between this check and the start of the program.
    private static func protected(_ path: String) -> String? {
        guard let path = resolved(path), let walk = try? PathWalk(path, MountTable([]), isAllowed: isProtected),
            walk.components.allSatisfy(isProtected), walk.components.last?.status.kind == .regularFile
        else { return nil }
        return path
    }

    /// Write permission of a group counts as that of others, because an administrator decides who is in it.
    private static func isProtected(_ component: PathWalk.Component) -> Bool {
        [0, geteuid()].contains(component.status.owner) && component.status.mode & 0o022 == 0
            && component.status.kind != .other
    }

    private static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(validatingCString: resolved)
    }
}

/// Locates the program `latchkeyd`.
package enum DaemonProgram {
    /// The path in `LATCHKEY_DAEMON`, or the first place of `ProgramSearch` that has the program.
    package static func find() throws(Failure) -> String {
        try ProgramSearch("latchkeyd", variable: "LATCHKEY_DAEMON").find(
            hint: "Install it with: make install PREFIX=~/.local. "
                + "For an installation in another prefix, add the bin folder of the prefix to PATH.")
    }
}
