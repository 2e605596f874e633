// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// The listening sockets of `latchkey-authd`: those of the service manager, or its own.
struct AuthoritySockets {
    let authority: Descriptor
    let agents: Descriptor

    /// Takes the sockets `authd` and `agents` from the service manager, or creates the folder and the sockets.
    init(_ sockets: SystemSockets, _ storeUser: UserIdentity, _ activated: [String: Descriptor]) throws(Failure) {
        if let authority = activated["authd"], let agents = activated["agents"] {
            (self.authority, self.agents) = (authority, agents)
            return
        }
        guard activated.isEmpty else {
            throw Failure(
                .invalidParameter, "The service manager did not pass both sockets, authd and agents.",
                hint: "See: systemctl cat latchkey-authd.socket latchkey-agents.socket")
        }
        do throws(SystemError) {
            try Self.make(sockets.folder, owner: 0)
            // The daemon of the keychain creates its own socket there.
            try Self.make(sockets.publicFolder, owner: storeUser.userID)
            authority = try Sockets.listen(sockets.authority, mode: 0o660)
            agents = try Sockets.listen(sockets.agents, mode: 0o666)
        } catch {
            throw Failure(error, "The sockets in \(sockets.folder) cannot be created")
        }
        guard lchown(sockets.authority, .max, storeUser.groupID) == 0 else {
            throw Failure(SystemError("lchown"), "\(sockets.authority) cannot be given to latchkeyd")
        }
    }

    /// Creates a folder that everyone can enter and only its owner can change.
    private static func make(_ path: String, owner: uid_t) throws(SystemError) {
        if mkdir(path, 0o755) != 0, errno != EEXIST { throw SystemError("mkdir") }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw SystemError("mkdir", code: ENOTDIR)
        }
        // A folder that another user created could contain sockets of that user.
        guard status.st_uid == 0 || status.st_uid == owner || status.st_uid == geteuid() else {
            throw SystemError("mkdir", code: EEXIST)
        }
        // The umask of the process removed the permissions to enter.
        guard chmod(path, 0o755) == 0 else { throw SystemError("chmod") }
        if geteuid() == 0, status.st_uid != owner, lchown(path, owner, .max) != 0 { throw SystemError("lchown") }
    }
}
