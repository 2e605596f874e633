// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// The source line at which a script queued an action.
package struct ScriptLine: Equatable, Sendable {
    package let fileID: String
    package let filePath: String
    package let line: Int

    /// Creates a source line. `fileID` and `filePath` are those of the compiler.
    package init(fileID: String, filePath: String, line: Int) {
        self.fileID = fileID
        self.filePath = filePath
        self.line = line
    }

    /// `File.swift:12`.
    var words: String { "\(filePath.split(separator: "/").last ?? ""):\(line)" }
}

/// Why a prompt that only a script answers was ended: no queued action can answer it.
package struct ScriptProblem: Sendable {
    /// The line of the next action; nil if no action is queued or the action has no line.
    package let line: ScriptLine?
    package let message: String
    package let hint: String

    /// Creates the problem of a prompt that never accepts the next action.
    init(_ action: SimulatedWorld.Action, _ line: ScriptLine?, _ content: PromptContent) {
        self.line = line
        let place = line.map { "\($0.words): " } ?? ""
        message = "\(place)The script cannot go on: \(action.words) comes next, and the prompt \(content.wants)."
        hint = "Queue the action that the prompt asks for before it, or remove the queued actions: \(Self.reset(line))."
    }

    /// Creates the problem of a prompt for which no action is queued; `content` is nil if the prompt was not shown.
    init(_ content: PromptContent?) {
        line = nil
        message =
            content.map { "The script ends too early: no action is queued, and the prompt \($0.wants)." }
            ?? "No prompt can be shown here, and no action of a script is queued."
        let queue = "queue the actions of the user before the call, such as: latchkey sim touch"
        hint =
            content == nil
            ? "Run the program in a terminal of your own, or start latchkey-agent in your session. A script: \(queue)"
            : queue.prefix(1).uppercased() + queue.dropFirst()
    }

    private static func reset(_ line: ScriptLine?) -> String {
        line == nil ? "latchkey sim reset" : "forgetActions()"
    }
}

extension PromptContent {
    /// What the prompt shows or asks for, as the end of a sentence.
    fileprivate var wants: String {
        switch step {
        case .recoveryCodeShown: "shows the recovery code"
        case .accountExpired: "says that the password of the account has expired"
        case .recoveryCodeAsked: "asks for a recovery code or a word"
        case .recoveryCodeRepeated: "asks for the end of the recovery code"
        case .newPasscodeAsked: "asks for a new passcode"
        case .newPasscodeRepeated: "asks for the new passcode again"
        case .proof where question == .permission: "asks whether the app may use Face ID"
        case .proof where question == .scan: "asks whether the camera may scan"
        case .proof:
            switch method {
            case .biometry: "asks for a finger or a face" + (showsFallback ? " and offers the fallback" : "")
            case .passcode: "asks for the passcode"
            case .companion: "asks for the paired device"
            }
        }
    }
}
