// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A program that called the Secret Service, as this side has determined it.
package struct AskingProgram: Sendable {
    /// The process, with the access group of the Secret Service alone.
    package var caller: Caller
    /// The program by which its items and the answers for it are known: the path of its executable, and for a program that
    /// only passes on what others ask, such as a shell, also the ones that started it.
    package var name: String
    /// Whether the name is that of one program; answers are stored for such a one only.
    package var isDetermined: Bool
    /// For whom prompts are shown one after another, and refusals count: the name, unless any program of the user can give
    /// itself such a name.
    package var prompted: String

    package init(caller: Caller, name: String, isDetermined: Bool = true, prompted: String? = nil) {
        (self.caller, self.name, self.isDetermined) = (caller, name, isDetermined)
        self.prompted = prompted ?? name
    }
}

/// The role that determines who calls the Secret Service, and for whom an agent uses a key.
package protocol SecretCallers: Sendable {
    /// The queue on which `program` may block; nil if it does not.
    var work: (any WorkQueue)? { get }
    /// The name of the program that copies items from other keyrings. No keyring says which program had stored one, so
    /// this one has them for another, which is not known yet.
    var importer: String { get }
    /// Returns the program of a process.
    ///
    /// - Parameter provider: the program that names the process.
    /// - Throws: `notPermitted` if it may not name others; `peerNotTrusted` if the process has ended or cannot be
    ///   determined.
    func program(_ process: ProcessName, namedBy provider: Caller) throws(Failure) -> AskingProgram
    /// Returns the program of a process for which an agent uses its key, as its prompt shows it; nil if the process has no
    /// terminal of its user, and the prompt is that of the agent.
    ///
    /// - Parameter agent: the program that names the process.
    /// - Throws: as `program`.
    func asker(_ process: ProcessName, namedBy agent: Caller) throws(Failure) -> Caller?
}
