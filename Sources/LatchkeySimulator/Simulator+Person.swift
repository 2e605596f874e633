// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import SimulatedDriver

// What the person does. Each action waits in line until a prompt can take it. An action that stays the first in line for good
// ends the prompt: see `scriptProblem`.

extension Simulator {
    /// Touches the sensor, or looks at it, as soon as it watches.
    public func touch(
        matching: Bool, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { perform(.touch(matching: matching), ScriptLine(fileID: fileID, filePath: filePath, line: line)) }

    /// Looks at the camera, or touches the sensor, as soon as it watches: the same as `touch`, by its name on a Face ID
    /// machine.
    public func presentFace(
        matching: Bool, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { touch(matching: matching, fileID: fileID, filePath: filePath, line: line) }

    /// Types a passcode as soon as a prompt asks for one.
    public func enter(
        passcode: String, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { perform(.passcode(SecretBytes(passcode.utf8)), ScriptLine(fileID: fileID, filePath: filePath, line: line)) }

    /// Confirms that the recovery code is written down, as soon as a prompt shows one.
    public func acknowledgeRecoveryCode(
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { perform(.codeAcknowledged, ScriptLine(fileID: fileID, filePath: filePath, line: line)) }

    /// Types a recovery code as soon as a prompt asks for one.
    public func enter(
        recoveryCode: String, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) {
        perform(
            .recoveryCode(SecretBytes(recoveryCode.utf8)), ScriptLine(fileID: fileID, filePath: filePath, line: line))
    }

    /// The recovery code that a prompt showed last; nil when none did.
    public var shownRecoveryCode: String? {
        machine.world.shownRecoveryCode.map { $0.withBytes { String(decoding: $0, as: UTF8.self) } }
    }

    /// Chooses the fallback button as soon as it is shown.
    public func chooseFallback(
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { perform(.fallback, ScriptLine(fileID: fileID, filePath: filePath, line: line)) }

    /// Cancels the prompt as soon as there is one.
    public func cancel(
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { perform(.cancel, ScriptLine(fileID: fileID, filePath: filePath, line: line)) }

    /// Confirms on a paired device as soon as a prompt offers it.
    public func confirmOnCompanion(
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { perform(.confirm, ScriptLine(fileID: fileID, filePath: filePath, line: line)) }

    /// Answers whether the app may use Face ID, as soon as it asks.
    public func answerFaceIDQuestion(
        allow isAllowed: Bool, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) { perform(.permission(isAllowed), ScriptLine(fileID: fileID, filePath: filePath, line: line)) }

    private func perform(_ action: SimulatedWorld.Action, _ line: ScriptLine) { machine.world.perform(action, line) }

    /// Drops actions that nothing has taken.
    public func forgetActions() throws { try control(.reset) }

    /// Whether a prompt takes whatever is typed for the passcode, as the simulators of Apple's tools do. The machine
    /// has to have a passcode.
    public func setAcceptsAnyPasscode(_ acceptsAny: Bool) throws { try control(.acceptAnyPasscode(acceptsAny)) }
}
