// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// The privileges that `latchkey-authd` retains as root.
enum AuthorityPrivileges {
    /// SYS_PTRACE reads the executables of other users' processes; SETUID and SETGID start prompts as their users; KILL
    /// ends them.
    static let retained: [Capability] = [.systemTrace, .setUserID, .setGroupID, .kill]

    /// Gives up all other privileges for ever. Without root there are none to give up.
    static func drop() throws(Failure) {
        guard geteuid() == 0 else { return }
        do throws(SystemError) {
            try Capability.retainOnly(retained)
        } catch {
            throw Failure(error, "Privileges that are not needed cannot be given up")
        }
    }
}
