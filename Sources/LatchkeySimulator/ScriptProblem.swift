// SPDX-License-Identifier: Apache-2.0

extension Simulator {
    /// Why a script could not continue: the next queued action is one that the shown prompt never accepts, such as a
    /// touch while the prompt asks for the passcode.
    ///
    /// Such a prompt would wait forever, since only the script advances the clock of a simulated machine and the time
    /// limit of a test cannot cancel a blocked call. Therefore the prompt ends as if it could not be shown: with
    /// `LAError.notInteractive` and this description, or with `errSecInteractionNotAllowed`. The action stays queued. A
    /// prompt without a queued action does not end, since another task may still queue one.
    public struct ScriptProblem: Sendable, CustomStringConvertible {
        /// The file and line of the action, the action, and what the prompt asked for.
        public let description: String
        /// The file that queued the action, as `#fileID`.
        public let fileID: String
        /// The file that queued the action, as `#filePath`.
        public let filePath: String
        /// The line that queued the action; the first line is 1.
        public let line: Int
    }

    /// The latest reason why the script could not continue; nil if it always could.
    ///
    /// The trait of `LatchkeyTesting` records it as an issue at the line of the action.
    public var scriptProblem: ScriptProblem? {
        guard let problem = machine.world.scriptProblem, let line = problem.line else { return nil }
        return ScriptProblem(
            description: "\(problem.message) \(problem.hint)", fileID: line.fileID, filePath: line.filePath,
            line: line.line)
    }
}
