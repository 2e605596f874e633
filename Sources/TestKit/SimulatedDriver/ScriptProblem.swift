// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// The source line at which a script queued an action.
package struct ScriptLine: Equatable, Sendable {
    package let fileID: String
    package let filePath: String
    package let line: Int

    /// Creates a source line. `fileID` and `filePath` are those of the compiler.
    package init(fileID: String, filePath: String, line: Int) {
        (self.fileID, self.filePath, self.line) = (fileID, filePath, line)
    }

    /// `File.swift:12`.
    var words: String { "\(filePath.split(separator: "/").last ?? ""):\(line)" }
}

/// Why a prompt that only the simulated person answers was ended: neither a queued action nor the person can answer it.
package struct ScriptProblem: Sendable {
    /// The line of the next action; nil if no action is queued or the action has no line.
    package let line: ScriptLine?
    package let message: String
    package let hint: String

    private init(_ message: String, hint: String, line: ScriptLine? = nil) {
        (self.message, self.hint, self.line) = (message, hint, line)
    }

    /// Creates the problem of a prompt that never accepts the next action.
    static func mismatch(
        _ action: SimulatedWorld.Action, _ line: ScriptLine?, _ prompt: SimulatedWorld.ShownPrompt
    ) -> ScriptProblem {
        let place = line.map { "\($0.words): " } ?? ""
        let reset = prompt.isForFunctions ? "forgetActions()" : "latchkey sim reset"
        return ScriptProblem(
            "\(place)The script cannot go on: \(action.words) comes next, and \(prompt.name) \(prompt.wants).",
            hint: prompt.isDelayedForEver
                ? "Advance the clock before the call: advance(by:). \(prompt.waiting)"
                : "Queue the action that the prompt asks for before it, or remove the queued actions: \(reset).",
            line: line)
    }

    static func noAction(_ prompt: SimulatedWorld.ShownPrompt) -> ScriptProblem {
        let hint =
            prompt.isForFunctions
            ? "Queue the action before the call: \(prompt.remedy); or have every prompt answered: answer(.always). "
                + prompt.waiting
            : "Queue the actions of the user before the call, such as: \(prompt.remedy); or have every prompt "
                + "answered: latchkey sim answer always"
        return ScriptProblem(
            "The script ends too early: no action is queued, and \(prompt.name) \(prompt.wants).", hint: hint)
    }

    /// Creates the problem of a prompt that a person who answers every prompt cannot answer.
    static func noAnswer(_ prompt: SimulatedWorld.ShownPrompt) -> ScriptProblem {
        let answer = prompt.isForFunctions ? "answer(.byRule)" : "latchkey sim answer by-rule"
        return ScriptProblem(
            "The person who answers every prompt has no answer: \(prompt.name) \(prompt.wants).",
            hint: "Have the queued actions answer it: \(answer); \(prompt.remedy)")
    }

    /// Creates the problem of a prompt that was shown when the task of the test was cancelled.
    static func cancelled(_ prompt: SimulatedWorld.ShownPrompt) -> ScriptProblem {
        ScriptProblem("The task was cancelled while \(prompt.name) \(prompt.wants).", hint: "")
    }

    static let noPrompt = ScriptProblem(
        "No prompt can be shown here, and no action of a script is queued.",
        hint: """
            Run the program in a terminal of your own, or start latchkey-agent in your session. A script: queue the \
            actions of the user before the call, such as: latchkey sim touch; or have every prompt answered: \
            latchkey sim answer always
            """)
}

extension SimulatedWorld.ShownPrompt {
    /// Whether functions of the module LatchkeySimulator answer the prompt, and not commands.
    fileprivate var isForFunctions: Bool {
        switch script {
        case .functions: true
        case .commands, nil: false
        }
    }

    /// The prompt as the subject of a sentence, with the reason that it shows.
    fileprivate var name: String {
        prompt.purpose == .app && !prompt.reason.isEmpty ? "the prompt \"\(prompt.reason)\"" : "the prompt"
    }

    fileprivate var waiting: String {
        "If another task acts while the prompt is shown: Simulator(waitsForActions: true), or the same of the trait."
    }

    /// What the prompt shows or asks for, as the end of a sentence.
    fileprivate var wants: String {
        switch content.step {
        case .recoveryCodeShown: "shows the recovery code"
        case .answerAsked, .onceAsked: "asks whether a program may read the item of another one"
        case .accountExpired: "says that the password of the account has expired"
        case .recoveryCodeAsked: "asks for a recovery code or a word"
        case .recoveryCodeRepeated: "asks for the end of the recovery code"
        case .newPasscodeAsked: "asks for a new passcode"
        case .newPasscodeRepeated: "asks for the new passcode again"
        case .proof where content.question == .permission: "asks whether the app may use Face ID"
        case .proof where content.question == .scan: "asks whether the camera may scan"
        case .proof:
            switch content.method {
            case .biometry:
                "asks for \(prompt.sensor.object)" + (content.showsFallback ? " and offers the fallback" : "")
            case .passcode where content.delaySeconds > 0: "accepts no passcode for \(content.delaySeconds) s"
            case .passcode: "asks for the passcode"
            }
        }
    }

    /// The function or the command that queues an action which the prompt accepts.
    fileprivate var remedy: String {
        let (function, command) = remedies
        return isForFunctions ? function : "latchkey sim \(command)"
    }

    private var remedies: (function: String, command: String) {
        switch content.step {
        case .recoveryCodeShown, .accountExpired: ("acknowledgeRecoveryCode()", "acknowledge")
        case .recoveryCodeAsked, .recoveryCodeRepeated: ("enter(recoveryCode:)", "enter-code")
        case .answerAsked, .onceAsked: ("choose(.once)", "choose once")
        case .newPasscodeAsked, .newPasscodeRepeated: ("enter(newPasscode:)", "enter-new")
        case .proof where content.question != .none: ("answerFaceIDQuestion(allow: true)", "face allow")
        case .proof:
            switch content.method {
            case .biometry where prompt.sensor.isCamera: ("presentFace(matching: true)", "look")
            case .biometry: ("touch(matching: true)", "touch")
            case .passcode: ("enter(passcode:)", "enter")
            }
        }
    }
}

extension BiometryKind {
    fileprivate var object: String {
        switch self {
        case .none: "biometry"
        case .touchID: "a finger"
        case .faceID: "a face"
        case .opticID: "the eyes"
        }
    }
}
