// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The sockets that a service manager opened for this process (sd_listen_fds(3)).
package enum ActivatedSockets {
    /// Returns the listening sockets by the names in their units, and removes the variables that describe them, so that
    /// no child process takes them for its own. Called once, before any thread exists.
    package static func take() -> [String: Descriptor] {
        defer { for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) } }
        guard Environment.value("LISTEN_PID").flatMap({ Int32($0) }) == getpid(),
            let count = Environment.value("LISTEN_FDS").flatMap({ Int32($0) }), (1...16).contains(count)
        else { return [:] }
        let names = (Environment.value("LISTEN_FDNAMES") ?? "").split(separator: ":", omittingEmptySubsequences: false)
        var sockets: [String: Descriptor] = [:]
        for number in 0..<count {
            // The first descriptor is 3 (SD_LISTEN_FDS_START).
            let descriptor = Descriptor(owning: 3 + number)
            _ = fcntl(descriptor.number, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor.number, F_SETFL, fcntl(descriptor.number, F_GETFL) | O_NONBLOCK)
            if Int(number) < names.count { sockets[String(names[Int(number)])] = descriptor }
        }
        return sockets
    }
}
