// SPDX-License-Identifier: Apache-2.0

package import CLatchkeyLinux
import Glibc

/// The user and the group as which a program runs.
package struct UserIdentity: Equatable, Sendable {
    package let userID: uid_t
    package let groupID: gid_t

    /// Creates an identity from its numbers.
    package init(userID: uid_t, groupID: gid_t) {
        self.userID = userID
        self.groupID = groupID
    }
}

extension Processes {
    /// Starts a program as a user, on the terminal with that device number, which must belong to the user.
    ///
    /// The child becomes the user, without supplementary groups and without a way back, before it opens the terminal, so
    /// that the rights of this process never apply to the terminal's path. Requires CAP_SETUID and CAP_SETGID if `user` is
    /// not the user of this process. The program has a session of its own, the terminal as descriptors 0 and 1 and
    /// `channel` as descriptor 3; it inherits nothing else.
    ///
    /// - Parameters:
    ///   - environment: entries `NAME=value`; the whole environment of the program.
    ///   - channel: becomes descriptor 3 of the program.
    /// - Returns: the process ID, for which the caller must wait, and the terminal as the child opened it.
    /// - Throws: `SystemError` with code `EACCES` if the terminal does not exist, is not the user's, or cannot be opened,
    ///   or if the child cannot become the user.
    package static func start(
        _ path: String, _ arguments: [String], environment: [String], onTerminal device: UInt64,
        as user: UserIdentity, channel: Descriptor
    ) throws(SystemError) -> (process: pid_t, terminal: Terminal) {
        guard let terminalPath = Terminal.path(of: device) else { throw SystemError("open", code: EACCES) }
        let (child, report) = try startChild(
            path, arguments, environment: environment, terminalPath, device: device, as: user, channel: channel)
        let received = latchkey_receive_descriptor(report.number)
        // Compared again: the child belongs to the user since it has become the user.
        guard received >= 0,
            let terminal = Terminal(Descriptor(owning: received), device: device, ownedBy: user.userID)
        else {
            kill(child, SIGKILL)
            wait(child)
            throw SystemError("open", code: EACCES)
        }
        return (child, terminal)
    }

    /// Starts the child and returns the socket on which it sends the terminal. The stream ends with the child, which has
    /// the only other end.
    private static func startChild(
        _ path: String, _ arguments: [String], environment: [String], _ terminalPath: String, device: UInt64,
        as user: UserIdentity, channel: Descriptor
    ) throws(SystemError) -> (process: pid_t, report: Descriptor) {
        let (near, far) = try Sockets.pair()
        let (child, code) = terminalPath.withCString { terminal in
            withCStrings([path] + arguments) { arguments in
                withCStrings(environment) { environment in
                    path.withCString { path in
                        var start = latchkey_user_start(
                            path: path, arguments: arguments, environment: environment, terminal: terminal,
                            device: dev_t(device), user: user.userID, group: user.groupID, channel: channel.number,
                            report: far.number)
                        let child = latchkey_start_as_user(&start)
                        return (child, errno)
                    }
                }
            }
        }
        withExtendedLifetime(far) {}
        guard child > 0 else { throw SystemError("fork", code: code) }
        return (child, near)
    }
}
