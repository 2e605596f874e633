// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem

/// The folders and sockets of the system services.
package struct SocketFacts: Equatable, Sendable {
    package var folder: String
    /// The states of the folders that lead to the sockets, and of the sockets.
    package var folders: [PathState]
    package var keychain: PathState?
    package var authority: PathState?
    package var agents: PathState?
    /// The user `latchkey`, if there is one.
    package var storeUser: UInt32?
    package var administrator: UInt32
    /// Whether an administrator chose a tier for the machine.
    package var isConfigured: Bool

    package init(_ places: MachinePlaces, storeUser: UInt32? = Accounts.user(named: "latchkey")?.userID) {
        let sockets = places.sockets
        folder = sockets.folder
        folders = places.chain(to: sockets.publicFolder).compactMap { PathState($0) }
        keychain = PathState(sockets.keychain)
        authority = PathState(sockets.authority)
        agents = PathState(sockets.agents)
        self.storeUser = storeUser
        administrator = places.administrator
        isConfigured = Files.exists(places.configuration)
    }

    /// Whether the system services have been started or configured.
    package var isInstalled: Bool { isConfigured || folders.contains { $0.path == folder } }
}

extension DoctorRow {
    /// Owners and modes of the sockets: only root, and for the public folder the user of `latchkeyd`, may change them.
    package static func systemSockets(_ facts: SocketFacts) -> DoctorRow {
        let name = "system sockets"
        guard facts.isInstalled else {
            return DoctorRow(name, .absent, "\(facts.folder) does not exist; each user has a daemon of their own")
        }
        let services = [facts.administrator] + [facts.storeUser].compactMap { $0 }
        var defects = facts.folders.compactMap { folder in
            let isPublic = folder.path == facts.folder + "/public"
            return PathDefect.changeable(folder, owners: isPublic ? services : [facts.administrator])
        }
        let units = "latchkey-authd.socket latchkey-agents.socket"
        let sockets = SystemSockets(facts.folder)
        for (path, state, mode, owners, unit) in [
            (sockets.keychain, facts.keychain, 0o666, services, "latchkeyd.socket"),
            (sockets.authority, facts.authority, 0o660, [facts.administrator], units),
            (sockets.agents, facts.agents, 0o666, [facts.administrator], units),
        ] {
            if let defect = socketDefect(path, state, mode: UInt32(mode), owners, unit) { defects.append(defect) }
        }
        return defects.row(name, needsRoot: true) ?? DoctorRow(name, .ok, "\(facts.folder), owners and modes are right")
    }

    private static func socketDefect(
        _ path: String, _ state: PathState?, mode: UInt32, _ owners: [UInt32], _ unit: String
    ) -> PathDefect? {
        let word = ShellWord.quoted(path)
        guard let state else {
            return PathDefect(found: "\(path) is missing", command: "systemctl enable --now \(unit)")
        }
        // The listener of another user would receive the secrets of this one; its owner cannot be corrected.
        guard state.kind == .socket, owners.contains(state.owner) else {
            let found = state.kind == .socket ? "belongs to user \(state.owner)" : "is not a socket"
            return PathDefect(found: "\(path) \(found)", command: "rm -f \(word) && systemctl restart \(unit)")
        }
        guard state.mode != mode else { return nil }
        let octal = String(mode, radix: 8)
        return PathDefect(
            found: "\(path) has mode \(String(state.mode, radix: 8)) instead of \(octal)",
            command: "chmod \(octal) \(word)")
    }

    /// Owner and mode of the configuration file of the system services, and of the folders above it.
    ///
    /// - Parameter chain: the folders above the file that exist.
    package static func configuration(
        _ path: String, _ file: PathState?, _ chain: [PathState], administrator: UInt32, isInstalled: Bool
    ) -> DoctorRow {
        let name = "configuration"
        guard let file else {
            guard isInstalled else { return DoctorRow(name, .absent, "\(path) does not exist") }
            let (folder, word) = (ShellWord.quoted(Files.folder(of: path)), ShellWord.quoted(path))
            return DoctorRow(
                name, .attention, "\(path) is missing, so no tier is chosen and latchkeyd does not start",
                .init("install -d -m 755 \(folder) && echo 'tier = file' > \(word)", needsRoot: true))
        }
        let defects = (chain + [file]).compactMap { PathDefect.changeable($0, owners: [administrator]) }
        return defects.row(name, needsRoot: true) ?? DoctorRow(name, .ok, "\(path)")
    }

    package static func configuration(_ places: MachinePlaces, isInstalled: Bool) -> DoctorRow {
        let path = places.configuration
        return configuration(
            path, PathState(path), places.chain(to: path).dropLast().compactMap { PathState($0) },
            administrator: places.administrator, isInstalled: isInstalled)
    }
}
