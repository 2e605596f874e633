// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
import LatchkeySystem

/// Determines who a calling process is, in the tiers `file` and `tpm`; `docs/identity.md` describes the rules.
///
/// For processes of other users, and for process 1, the caller needs CAP_SYS_PTRACE and CAP_SETUID. It looks paths up in its own mount
/// namespace, which should be that of the system. Calls are safe from any thread and wait for no other process.
package struct ProgramIdentifier: Sendable {
    private let folder: DeclarationFolder
    private let reference: Int32

    /// Creates an identifier.
    ///
    /// - Parameters:
    ///   - declarations: the folder of app declarations.
    ///   - reference: a process in the namespaces of the system.
    package init(declarations: DeclarationFolder = DeclarationFolder(), reference: Int32 = 1) {
        folder = declarations
        self.reference = reference
    }

    /// The identity of a process. A process that has ended, that is not the one with this start time, or that cannot be
    /// read, gets the identity of an undetermined program of its user.
    ///
    /// - Throws: `Failure` with `notPermitted` for a user id that is none: -1, and the overflow user id.
    package func identify(_ name: ProcessName) throws(Failure) -> ProgramIdentity {
        guard !UnmappedUser.includes(name.userID) else {
            throw Failure(
                .notPermitted,
                "The user id \(name.userID) stands for users that are unknown here, so it has no keychain.",
                hint: "Run the program outside of its container or user namespace.")
        }
        // No facts: not this process, or it changed while it was read.
        guard let facts = ProcessFacts.read(name, reference: reference) else { return .undetermined(name.userID) }
        return facts.identity(of: name, folder.declarations)
    }

    /// The declarations that were refused, for `latchkey doctor`.
    package var problems: [AppDeclarations.Problem] { folder.declarations.problems }
}
