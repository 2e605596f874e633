// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySystem

/// What the kernel reports about one process, read without a decision; `identity(of:_:)` decides.
///
/// What cannot be read now has no facts: reading throws then. A fact is also that the kernel has something not, or that it
/// is more than is examined; `IdentificationStep` lists these.
package struct ProcessFacts: Equatable, Sendable {
    /// The file that the path of the executable leads to.
    package struct ProgramFile: Equatable, Sendable {
        /// The path that the kernel reports for the executable.
        package var path: String
        /// The components of the path, looked up by this process; incomplete if one of them is not protected.
        package var components: [PathWalk.Component]
        package var isELF: Bool
    }

    /// The real, effective, saved and file system user id.
    package var userIDs: [UInt32]
    /// The file that the process executes; nil if there is none.
    package var executable: ExecutableFile?
    /// Nil if the executable has no path here.
    package var program: ProgramFile?
    /// Whether its user namespace, its mount namespace and its root folder are those of the system.
    package var isInSystemNamespaces: Bool
    /// Whether another process traces one of its threads.
    package var isTraced: Bool
    /// Whether its initial environment makes it load foreign code (`CodeVariables`), or is longer than what is examined.
    package var loadsForeignCode: Bool
    /// The path of its control group (version 2); nil where there is none.
    package var controlGroup: String?
    /// The device number of its controlling terminal; 0 when there is none.
    package var terminal: UInt64
    /// Whether the terminal is a device of the same user.
    package var ownsTerminal: Bool
    /// What tells this execution of a program from others of the same process (`ProcessRecord.execution`).
    package var execution: UInt64 = 0
    /// What its sandbox says; nothing for a process in the namespaces of the system, which is in no sandbox of its user.
    package var sandbox = SandboxStatement.nothing
}

extension ProcessName {
    /// The name of the process that a pidfd refers to.
    ///
    /// - Throws: `SystemError`, with ESRCH when the process has ended.
    package init(handle: Descriptor, userID: UInt32) throws(SystemError) {
        let folder = try ProcessFolder(handle: handle)
        self.init(processID: folder.processID, startTime: try folder.record().startTime, userID: userID)
    }
}

extension ProgramIdentity {
    /// The identity that all programs of a user share that cannot be determined.
    package static func undetermined(_ user: UInt32) -> ProgramIdentity {
        ProgramIdentity(
            label: Caller.undetermined, program: "", application: "user:\(user)", groups: ["user:\(user)"],
            strength: .user, terminal: 0, session: "")
    }
}
