// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel

/// The sockets of the system services (tiers `file` and `tpm`), below one folder that only root can change.
package struct SystemSockets: Sendable {
    package static let installed = SystemSockets("/run/latchkey")

    package let folder: String
    /// The configuration of `latchkeyd`, with which an administrator chooses the tier of the machine.
    package let configuration: String

    /// Names the sockets below `folder`.
    package init(_ folder: String, configuration: String = "/etc/latchkey/latchkeyd.conf") {
        (self.folder, self.configuration) = (folder, configuration)
    }

    /// The folder of the socket that programs use; it belongs to root or to the user of `latchkeyd`.
    package var publicFolder: String { folder + "/public" }
    /// The socket of `latchkeyd` that programs use.
    package var keychain: String { publicFolder + "/keychain.sock" }
    /// The socket of `latchkey-authd` that `latchkeyd` uses.
    package var authority: String { folder + "/authd.sock" }
    /// The socket of `latchkey-authd` that programs which show prompts use.
    package var agents: String { folder + "/agents.sock" }

    /// The user as which `latchkeyd` runs, according to the owner of its folder; nil if there is no system keychain.
    ///
    /// - Throws: `peerNotTrusted` if someone other than root could have made the sockets.
    package func storeUser() throws(Failure) -> UInt32? {
        guard Files.exists(keychain) else { return nil }
        let parents = Files.parents(of: publicFolder)
        var owner: UInt32 = 0
        for path in parents + [publicFolder] {
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_mode & 0o022 == 0,
                status.st_uid == 0 || path == publicFolder
            else {
                throw Failure(
                    .peerNotTrusted, "\(path) can be changed by others than root, so its sockets are not used.",
                    hint: "Ask an administrator to run: latchkey doctor")
            }
            owner = status.st_uid
        }
        return owner
    }

    /// Connects to a socket; its listener must be root or `user`.
    ///
    /// With socket activation the kernel reports root, who called listen(2), and else the user of the service.
    ///
    /// - Parameters:
    ///   - name: the abstract name of this end, which the listener can read; nil for none.
    ///   - seconds: time limit, as of `Sockets.connect`; nil for none.
    package static func connect(
        _ path: String, servedBy user: UInt32, name: [UInt8]? = nil, seconds: Int64? = nil
    ) throws(Failure) -> Descriptor {
        let descriptor: Descriptor
        let peer: PeerCredentials
        do throws(SystemError) {
            descriptor = try Sockets.connect(path, name: name, seconds: seconds)
            peer = try Sockets.peer(descriptor)
        } catch {
            throw Failure(
                .daemonUnavailable, "\(path) does not answer: \(error.description).",
                hint: "See: systemctl status latchkeyd latchkey-authd")
        }
        guard peer.userID == 0 || peer.userID == user else {
            throw Failure(
                .peerNotTrusted, "The socket \(path) belongs to user \(peer.userID).",
                hint: "Ask an administrator to run: latchkey doctor")
        }
        return descriptor
    }
}

/// The abstract name (unix(7)) of a connection of `latchkeyd` to `latchkey-authd`, which says for which user it is: the process
/// that accepts it has to read nothing and to wait for nothing. The name is trusted as the peer is: only the user of
/// `latchkeyd` is accepted there.
package enum ServiceChannelName {
    private static let prefix = Array("latchkey/".utf8)

    package static func make(for user: UInt32) -> [UInt8] {
        prefix + Array("\(user)/\(String(UInt64.random(in: 0 ... .max), radix: 16))".utf8)
    }

    /// The user for whom a connection is; nil if its other end has no such name.
    package static func user(of connection: Descriptor) -> UInt32? {
        // A name that cannot be read names no user, and the connection is closed.
        guard let name = try? Sockets.peerName(connection), name.starts(with: prefix) else { return nil }
        let digits = name.dropFirst(prefix.count).prefix { $0 != UInt8(ascii: "/") }
        guard !digits.isEmpty, digits.count <= 10, let number = UInt32(String(decoding: digits, as: UTF8.self)) else {
            return nil
        }
        return number
    }
}
