// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySystem

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
