// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// What the person does. Each action waits in line until a prompt can take it.

extension Simulator {
    /// Touches the sensor, or looks at it, as soon as it watches.
    public func touch(matching: Bool) { machine.world.perform(.touch(matching: matching)) }

    /// Looks at the camera, or touches the sensor, as soon as it watches: the same as `touch`, by its name on a Face ID
    /// machine.
    public func presentFace(matching: Bool) { touch(matching: matching) }

    /// Types a passcode as soon as a prompt asks for one.
    public func enter(passcode: String) { machine.world.perform(.passcode(SecretBytes(passcode.utf8))) }

    /// Confirms that the recovery code is written down, as soon as a prompt shows one.
    public func acknowledgeRecoveryCode() { machine.world.perform(.codeAcknowledged) }

    /// Types a recovery code as soon as a prompt asks for one.
    public func enter(recoveryCode: String) { machine.world.perform(.recoveryCode(SecretBytes(recoveryCode.utf8))) }

    /// The recovery code that a prompt showed last; nil when none did.
    public var shownRecoveryCode: String? {
        machine.world.shownRecoveryCode.map { $0.withBytes { String(decoding: $0, as: UTF8.self) } }
    }

    /// Chooses the fallback button as soon as it is shown.
    public func chooseFallback() { machine.world.perform(.fallback) }

    /// Cancels the prompt as soon as there is one.
    public func cancel() { machine.world.perform(.cancel) }

    /// Confirms on a paired device as soon as a prompt offers it.
    public func confirmOnCompanion() { machine.world.perform(.confirm) }

    /// Answers whether the app may use Face ID, as soon as it asks.
    public func answerFaceIDQuestion(allow isAllowed: Bool) { machine.world.perform(.permission(isAllowed)) }

    /// Drops actions that nothing has taken.
    public func forgetActions() throws { try control(.reset) }

    /// Whether a prompt takes whatever is typed for the passcode, as the simulators of Apple's tools do. The machine
    /// has to have a passcode.
    public func setAcceptsAnyPasscode(_ acceptsAny: Bool) throws { try control(.acceptAnyPasscode(acceptsAny)) }
}
