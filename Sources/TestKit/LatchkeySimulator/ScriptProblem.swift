// SPDX-License-Identifier: Apache-2.0

extension Simulator {
    /// Why a prompt ended without an answer: no action is queued, the next one is one that the prompt never accepts, such
    /// as a touch while the prompt asks for the passcode, or the task was cancelled.
    ///
    /// Such a prompt would wait forever, since only the script advances the clock of a simulated machine. Therefore it
    /// ends as if it could not be shown: with `LAError.notInteractive` and this description, or with
    /// `errSecInteractionNotAllowed`. An action that was not accepted stays queued. On a machine that waits for actions
    /// (`Simulator.init`), a prompt stays while no action is queued or while the entry of the next passcode is delayed.
    public struct ScriptProblem: Sendable, CustomStringConvertible {
        /// The next action with its file and line, if there is one, what the prompt asked for, and what to queue.
        public let description: String
        /// The file that queued the action, or that created the machine if none was queued, as `#fileID`.
        public let fileID: String
        /// The same file as `#filePath`.
        public let filePath: String
        /// The line that queued the action, or that created the machine; the first line is 1.
        public let line: Int
    }

    /// The latest reason why a prompt ended without an answer; nil if each prompt was answered.
    ///
    /// The trait of `LatchkeyTesting` records it as an issue at its line.
    public var scriptProblem: ScriptProblem? {
        guard let problem = machine.world.scriptProblem else { return nil }
        let line = problem.line ?? machine.line
        let hint = problem.hint.isEmpty ? "" : " \(problem.hint)"
        return ScriptProblem(
            description: problem.message + hint, fileID: line.fileID, filePath: line.filePath,
            line: line.line)
    }

    /// The queued actions that no prompt has used so far, each with its file and line, the next one first.
    ///
    /// The trait of `LatchkeyTesting` records them as an issue when a test ends without an error.
    public var unusedActions: [String] { machine.world.queuedActions }
}
