// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
import LatchkeySystem

/// The files in which ssh(1) looks for the keys of hosts, unless its configuration names others.
package struct KnownHostsFiles: Sendable {
    private let paths: [String]

    package init(_ paths: [String]) { self.paths = paths }

    /// The files of this user and of the system.
    package static var standard: KnownHostsFiles {
        let own = Environment.home.map { [$0 + "/.ssh/known_hosts", $0 + "/.ssh/known_hosts2"] } ?? []
        return KnownHostsFiles(own + ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"])
    }

    /// Reads all files. Throws if one exists and cannot be read, since it could revoke the key of a host.
    package func read() throws(Failure) -> KnownHosts {
        var hosts = KnownHosts()
        for path in paths {
            do throws(SystemError) {
                let file = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
                let bytes = try file.readAll(limit: SSHAgentLimits.knownHostsBytes)
                hosts.add(bytes)
            } catch {
                guard [ENOENT, ENOTDIR].contains(error.code) else { throw Failure(error, "\(path) cannot be read") }
            }
        }
        return hosts
    }
}

/// Names that a host may have, as the command line of a program that connects to it says. They are verified against
/// the hashed entries of known hosts, so that a wrong command line gives no name.
enum HostCandidates {
    private static let commandBytes = 64 << 10
    private static let words = 64
    private static let nameBytes = 255

    /// The candidates in the command line of a process; none if it cannot be read.
    static func names(of process: Int32) -> [String] {
        guard let folder = try? ProcessFolder(process),
            let bytes = try? folder.read("cmdline", limit: commandBytes)
        else { return [] }
        return names(in: bytes.split(separator: 0).prefix(words).compactMap { String(validating: $0, as: UTF8.self) })
    }

    /// The candidates in these words: each word without a user, and with the port of `-p` or of a URL.
    static func names(in words: [String]) -> [String] {
        var ports = [String]()
        for (index, word) in words.enumerated() where word.hasPrefix("-p") {
            if word.count > 2 { ports.append(String(word.dropFirst(2))) }
            if word.count == 2, index + 1 < words.count { ports.append(words[index + 1]) }
        }
        var names: [String] = []
        for word in words.dropFirst() where !word.hasPrefix("-") && word.utf8.count <= nameBytes {
            let address = word.hasPrefix("ssh://") ? word.dropFirst(6) : word[...]
            let host = address.split(separator: "@").last ?? ""
            let parts = host.prefix { $0 != "/" }.split(separator: ":")
            guard let name = parts.first.map(String.init) else { continue }
            if parts.count == 2 { names.append("[\(name)]:\(parts[1])") }
            names += ports.map { "[\(name)]:\($0)" } + [name]
        }
        return names
    }
}
