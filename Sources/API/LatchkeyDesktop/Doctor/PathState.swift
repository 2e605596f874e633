// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem

/// Type, owner and permissions of a path.
package struct PathState: Equatable, Sendable {
    package enum Kind: Sendable { case folder, file, socket, other }

    package var path: String
    package var kind: Kind
    package var owner: UInt32
    /// The permission bits, at most 0o7777.
    package var mode: UInt32

    package init(_ path: String, _ kind: Kind, owner: UInt32, mode: UInt32) {
        (self.path, self.kind, self.owner, self.mode) = (path, kind, owner, mode)
    }

    /// Reads the state of a path, and of a symbolic link itself; nil if there is nothing.
    package init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        let kind: Kind =
            switch status.st_mode & Glibc.S_IFMT {
            case Glibc.S_IFDIR: .folder
            case Glibc.S_IFREG: .file
            case Glibc.S_IFSOCK: .socket
            default: .other
            }
        self.init(path, kind, owner: status.st_uid, mode: UInt32(status.st_mode) & 0o7777)
    }
}

/// Something that is wrong with a path, and the command that mends it.
struct PathDefect {
    let found: String
    let command: String

    /// What lets other users than `owners` change the path; the first of them is the one that should own it.
    static func changeable(_ state: PathState, owners: [UInt32]) -> PathDefect? {
        let word = ShellWord.quoted(state.path)
        var commands: [String] = []
        var reasons: [String] = []
        if !owners.contains(state.owner), let owner = owners.first {
            reasons.append("belongs to user \(state.owner)")
            commands.append("chown \(owner) \(word)")
        }
        // Every user may connect to a writable socket; its own rule compares the mode.
        if state.kind != .socket, state.mode & 0o022 != 0 {
            reasons.append("can be changed by other users (mode \(String(state.mode, radix: 8)))")
            commands.append("chmod go-w \(word)")
        }
        guard !commands.isEmpty else { return nil }
        return PathDefect(
            found: "\(state.path) \(reasons.joined(separator: " and "))", command: commands.joined(separator: " && "))
    }
}

extension [PathDefect] {
    /// The row that names all defects and mends them in order; nil if there is none.
    func row(_ name: String, needsRoot: Bool) -> DoctorRow? {
        guard !isEmpty else { return nil }
        return DoctorRow(
            name, .attention, "\(map(\.found).joined(separator: "; "))",
            .init(map(\.command).joined(separator: " && "), needsRoot: needsRoot))
    }
}
