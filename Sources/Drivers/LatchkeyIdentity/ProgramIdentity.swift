// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension ProgramIdentity {
    /// The identity that all programs of a user share that cannot be determined.
    package static func undetermined(_ user: UInt32) -> ProgramIdentity {
        ProgramIdentity(
            label: Caller.undetermined, program: "", application: "user:\(user)", groups: ["user:\(user)"],
            strength: .user, terminal: 0, session: "")
    }
}
