// SPDX-License-Identifier: Apache-2.0

public import LatchkeyModel
import SimulatedDriver

// The actions of the user. Each action is queued until a prompt accepts it. If no action is queued, or the shown prompt
// can never accept the first one, the prompt ends: see `scriptProblem`.

extension Simulator {
    /// How the simulated person answers prompts.
    public enum Answers: Sendable {
        /// By the queued actions, as a new machine does.
        case byRule
        /// By whatever the prompt asks for: an enrolled finger or face, the passcode, the paired device, consent to Face
        /// ID, the recovery code that was shown last, permission to read once. A new passcode is `1234`, and so is the passcode of a machine
        /// that has not seen its own since it was created.
        case always
        /// By cancelling each prompt.
        case never

        var simulated: SimulatedAnswers {
            switch self {
            case .byRule: .byRule
            case .always: .always
            case .never: .never
            }
        }
    }

    /// Sets how the person answers prompts, the one that is shown included. While they do not answer by the queued
    /// actions, these wait.
    ///
    ///     let simulator = try Simulator()
    ///     try simulator.answer(.always)
    ///
    /// Never prompts, and blocks only while the simulated machine applies it.
    ///
    /// - Parameter answers: how to answer from now on.
    /// - Throws: `SimulatorError` when the state cannot be stored.
    public func answer(_ answers: Answers) throws { try control(.answer(answers.simulated)) }

    /// Touches the fingerprint sensor as soon as it is armed. A camera does not accept it: see `presentFace`. Does not
    /// block.
    ///
    /// - Parameters:
    ///   - matching: whether the finger is enrolled.
    ///   - fileID: the file to report when the script cannot continue.
    ///   - filePath: the path to report when the script cannot continue.
    ///   - line: the line to report when the script cannot continue.
    public func touch(
        matching: Bool, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { perform(.touch(matching: matching), ScriptLine(fileID: fileID, filePath: filePath, line: line)) }

    /// Presents a face, or eyes, as soon as the camera is armed. A fingerprint sensor does not accept it: see `touch`.
    /// Does not block.
    ///
    /// - Parameters:
    ///   - matching: whether the face is enrolled.
    ///   - fileID: the file to report when the script cannot continue.
    ///   - filePath: the path to report when the script cannot continue.
    ///   - line: the line to report when the script cannot continue.
    public func presentFace(
        matching: Bool, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { perform(.face(matching: matching), ScriptLine(fileID: fileID, filePath: filePath, line: line)) }

    /// Scans in a way that the sensor cannot use, as soon as it is armed: the prompt says what to do differently, and no
    /// attempt is used. Does not block.
    ///
    /// - Parameters:
    ///   - guidance: why the sensor cannot use the scan.
    ///   - fileID: the file to report when the script cannot continue.
    ///   - filePath: the path to report when the script cannot continue.
    ///   - line: the line to report when the script cannot continue.
    public func scanBadly(
        _ guidance: SensorGuidance, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { perform(.guidance(guidance), ScriptLine(fileID: fileID, filePath: filePath, line: line)) }

    /// Unplugs the sensor as soon as it is armed; `connect` connects it again. Does not block.
    ///
    /// - Parameters:
    ///   - fileID: the file to report when the script cannot continue.
    ///   - filePath: the path to report when the script cannot continue.
    ///   - line: the line to report when the script cannot continue.
    public func unplugSensor(
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { perform(.unplug, ScriptLine(fileID: fileID, filePath: filePath, line: line)) }

    /// Enters a passcode as soon as a prompt asks for one. Does not block.
    ///
    /// - Parameters:
    ///   - passcode: the passcode to enter, right or wrong.
    ///   - fileID: the file to report when the script cannot continue.
    ///   - filePath: the path to report when the script cannot continue.
    ///   - line: the line to report when the script cannot continue.
    public func enter(
        passcode: String, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { perform(.passcode(SecretBytes(passcode.utf8)), ScriptLine(fileID: fileID, filePath: filePath, line: line)) }

    /// Confirms that the recovery code is written down, as soon as a prompt shows one. Does not block.
    ///
    /// - Parameters:
    ///   - fileID: the file to report when the script cannot continue.
    ///   - filePath: the path to report when the script cannot continue.
    ///   - line: the line to report when the script cannot continue.
    public func acknowledgeRecoveryCode(
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { perform(.codeAcknowledged, ScriptLine(fileID: fileID, filePath: filePath, line: line)) }

    /// Enters a recovery code as soon as a prompt asks for one. Does not block.
    ///
    /// - Parameters:
    ///   - recoveryCode: the code to enter, right or wrong.
    ///   - fileID: the file to report when the script cannot continue.
    ///   - filePath: the path to report when the script cannot continue.
    ///   - line: the line to report when the script cannot continue.
    public func enter(recoveryCode: String, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line) {
        perform(
            .recoveryCode(SecretBytes(recoveryCode.utf8)), ScriptLine(fileID: fileID, filePath: filePath, line: line))
    }

    /// Enters a new passcode once, as soon as a prompt asks for one. Does not block.
    ///
    /// A prompt for a new passcode asks for it twice, so a script calls this twice.
    ///
    /// - Parameters:
    ///   - newPasscode: the entry.
    ///   - fileID: the file to report when the script cannot continue.
    ///   - filePath: the path to report when the script cannot continue.
    ///   - line: the line to report when the script cannot continue.
    public func enter(newPasscode: String, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line) {
        perform(.newPasscode(SecretBytes(newPasscode.utf8)), ScriptLine(fileID: fileID, filePath: filePath, line: line))
    }

    /// Whether a program may read an item that another program stored through `org.freedesktop.secrets`.
    public enum ReadAnswer: Sendable {
        /// This time only.
        case once
        /// Without a prompt until the login session ends or the keychain is locked.
        case session
        /// Now and later, without a prompt.
        case always
        /// Neither now nor later, without a prompt.
        case never

        fileprivate var stored: SecretAnswer {
            switch self {
            case .once: .once
            case .session: .session
            case .always: .always
            case .never: .never
            }
        }
    }

    /// Answers whether a program may read an item that another program stored, as soon as a prompt asks. Does not block.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - fileID: the file to report when the script cannot continue.
    ///   - filePath: the path to report when the script cannot continue.
    ///   - line: the line to report when the script cannot continue.
    public func choose(
        _ answer: ReadAnswer, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { perform(.choice(answer.stored), ScriptLine(fileID: fileID, filePath: filePath, line: line)) }

    /// The recovery code that the latest prompt with one showed; nil if none did.
    public var shownRecoveryCode: String? {
        machine.world.shownRecoveryCode.map { $0.withBytes { String(decoding: $0, as: UTF8.self) } }
    }

    /// Presses the fallback button as soon as it is shown. Does not block.
    ///
    /// - Parameters:
    ///   - fileID: the file to report when the script cannot continue.
    ///   - filePath: the path to report when the script cannot continue.
    ///   - line: the line to report when the script cannot continue.
    public func chooseFallback(
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { perform(.fallback, ScriptLine(fileID: fileID, filePath: filePath, line: line)) }

    /// Cancels the prompt as soon as one is shown. Does not block.
    ///
    /// - Parameters:
    ///   - fileID: the file to report when the script cannot continue.
    ///   - filePath: the path to report when the script cannot continue.
    ///   - line: the line to report when the script cannot continue.
    public func cancel(
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { perform(.cancel, ScriptLine(fileID: fileID, filePath: filePath, line: line)) }

    /// Answers an app's request to use Face ID as soon as a prompt shows it. Does not block.
    ///
    /// - Parameters:
    ///   - isAllowed: whether the app may use Face ID.
    ///   - fileID: the file to report when the script cannot continue.
    ///   - filePath: the path to report when the script cannot continue.
    ///   - line: the line to report when the script cannot continue.
    public func answerFaceIDQuestion(
        allow isAllowed: Bool, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { perform(.permission(isAllowed), ScriptLine(fileID: fileID, filePath: filePath, line: line)) }

    private func perform(_ action: SimulatedWorld.Action, _ line: ScriptLine) { machine.world.perform(action, line) }

    /// Removes all actions that are still queued.
    ///
    /// Never prompts, and blocks only while the simulated machine applies it.
    ///
    /// - Throws: `SimulatorError` when the machine cannot be reached.
    public func forgetActions() throws { try control(.reset) }

    /// Sets whether prompts accept every passcode, as Apple's simulators do.
    ///
    /// - Parameter acceptsAny: whether every passcode is right.
    /// - Throws: `SimulatorError` when the machine has no passcode, or none was entered since an existing store was
    ///   opened.
    public func setAcceptsAnyPasscode(_ acceptsAny: Bool) throws { try control(.acceptAnyPasscode(acceptsAny)) }
}
