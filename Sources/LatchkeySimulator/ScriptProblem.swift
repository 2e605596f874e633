// SPDX-License-Identifier: Apache-2.0

extension Simulator {
    /// Why a script could not go on: a prompt asked for one thing, and the action that came next in line was another one that
    /// no prompt takes in that place, such as a touch where the passcode is asked for.
    ///
    /// Such a prompt would wait for ever, since the clock of a simulated machine stands still and a blocked call cannot be
    /// cancelled by a time limit. It ends instead as where there is no place to ask: `LAError.notInteractive` with this
    /// sentence, or `errSecInteractionNotAllowed`. The action stays in line. A prompt that no action waits for does not end:
    /// another task may still act.
    public struct ScriptProblem: Sendable, CustomStringConvertible {
        /// What came next and what was asked for, beginning with the file and line of the action.
        public let description: String
        /// Where the action was queued, as `#fileID` has it.
        public let fileID: String
        /// Where the action was queued, as `#filePath` has it.
        public let filePath: String
        /// The line in that file; the first is 1.
        public let line: Int
    }

    /// Why the script could not go on last; nil when it always could. The trait of `LatchkeyTesting` records it as an issue
    /// at that line.
    public var scriptProblem: ScriptProblem? {
        guard let problem = machine.world.scriptProblem, let line = problem.line else { return nil }
        return ScriptProblem(
            description: "\(problem.message) \(problem.hint)", fileID: line.fileID, filePath: line.filePath,
            line: line.line)
    }
}
