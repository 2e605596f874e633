// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySystem

/// Determines who a calling process is, in the tiers `file` and `tpm`; `docs/reference/identity.md` describes the
/// rules.
///
/// For processes of other users, and for process 1, the caller needs CAP_SYS_PTRACE and CAP_SETUID. It looks paths up in its own mount
/// namespace, which should be that of the system. Calls are safe from any thread. They wait for no other process but the one
/// that is identified: a process can delay the reading of its own environment, so each user needs a thread of its own.
package struct ProgramIdentifier: Sendable {
    private let folder: DeclarationFolder
    private let reference: Int32
    private let calls: SystemCalls

    /// Creates an identifier.
    ///
    /// - Parameters:
    ///   - declarations: the folder of app declarations.
    ///   - reference: a process in the namespaces of the system.
    ///   - calls: the system calls of the identification; others than the kernel's only in tests.
    package init(
        declarations: DeclarationFolder = DeclarationFolder(), reference: Int32 = 1, _ calls: SystemCalls = .kernel
    ) {
        folder = declarations
        self.reference = reference
        self.calls = calls
    }

    /// The identity of a process. One that was examined and has nothing that identifies its program gets the identity that
    /// all undetermined programs of its user share; one that cannot be examined gets none.
    ///
    /// - Throws: `Failure` with `notPermitted` for a user id that is none: -1, and the overflow user id; with
    ///   `peerNotTrusted` for a process that has ended, is not the one with this start time, or executes another program
    ///   meanwhile; with `daemonUnavailable` for an error that `IdentificationStep` does not list as a fact.
    package func identify(_ name: ProcessName) throws(Failure) -> ProgramIdentity {
        guard !UnmappedUser.includes(name.userID) else {
            throw Failure(
                .notPermitted,
                "The user id \(name.userID) stands for users that are unknown here, so it has no keychain.",
                hint: "Run the program outside of its container or user namespace.")
        }
        let facts = try ProcessFacts.read(name, reference: reference, calls)
        return facts.identity(of: name, try folder.declarations)
    }

    /// The declarations that were refused, for `latchkey doctor`.
    package var problems: [AppDeclarations.Problem] { get throws(Failure) { try folder.declarations.problems } }
}
