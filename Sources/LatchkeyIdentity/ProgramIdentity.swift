// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySystem

/// Who a calling process is, as far as Linux can tell; `docs/identity.md` describes the rules.
package struct ProgramIdentity: Equatable, Sendable {
    /// What the identity is based on. Raw values are part of the protocol between the services and never reused.
    package enum Strength: UInt8, CaseIterable, Sendable {
        /// The user id alone: all programs of the user that cannot be determined share one identity.
        case user = 0
        /// The file of the program, which only root can change. A label: it separates programs, but not from code that
        /// the same user injects into them.
        case program = 1
        /// A service of the system with a user id of its own.
        case unit = 2
        /// A sandbox. Not given yet: it needs the desktop's portal.
        case sandbox = 3
    }

    /// The name in the audit log and in prompts.
    package var label: String
    /// The path of the program; empty unless the identity is based on it.
    package var program: String
    /// The app that face permissions and domain state hashes belong to.
    package var application: String
    /// The access groups; the first is the default of new items.
    package var groups: [String]
    package var strength: Strength
    /// The device number of the controlling terminal, if that belongs to the user; otherwise 0.
    package var terminal: UInt64
    /// The login session of the user: its number, `user` for a service of the user's manager, or empty.
    package var session: String
    /// The executable; nil where it cannot be determined.
    package var executable: ExecutableFile?

    package init(
        label: String, program: String, application: String, groups: [String], strength: Strength, terminal: UInt64,
        session: String, executable: ExecutableFile?
    ) {
        self.label = label
        self.program = program
        self.application = application
        self.groups = groups
        self.strength = strength
        self.terminal = terminal
        self.session = session
        self.executable = executable
    }

    /// The identity that all programs of a user share that cannot be determined.
    package static func undetermined(_ user: UInt32) -> ProgramIdentity {
        ProgramIdentity(
            label: Caller.undetermined, program: "", application: "user:\(user)", groups: ["user:\(user)"],
            strength: .user, terminal: 0, session: "", executable: nil)
    }

    /// The caller with this identity.
    ///
    /// - Parameter process: verifies that the process has not changed.
    package func caller(_ name: ProcessName, process: (any CallerProcess)? = nil) -> Caller {
        var caller = Caller(
            groups: groups, label: label, program: program, processID: name.processID, userID: name.userID,
            process: process)
        caller.application = application
        return caller
    }
}
