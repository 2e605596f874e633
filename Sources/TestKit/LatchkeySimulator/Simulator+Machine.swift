// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// The functions that change the machine. Each function takes effect before it returns.

extension Simulator {
    /// Replaces the sensor. The enrolment set is preserved.
    ///
    /// Never prompts, and blocks only while the simulated machine applies it.
    ///
    /// - Parameter sensor: the new sensor; `none` removes it.
    /// - Throws: `SimulatorError` when the state cannot be stored.
    public func connect(_ sensor: Sensor) throws { try control(.sensor(sensor)) }

    /// Enrols one more finger or face. The enrolment set changes.
    ///
    /// Never prompts, and blocks only while the simulated machine applies it.
    ///
    /// - Throws: `SimulatorError` when the state cannot be stored.
    public func enroll() throws { try control(.enroll) }

    /// Removes all enrolled fingers or faces.
    ///
    /// Never prompts, and blocks only while the simulated machine applies it.
    ///
    /// - Throws: `SimulatorError` when the state cannot be stored.
    public func unenroll() throws { try control(.unenroll) }

    /// Replaces an enrolled finger with another one. The enrolment set changes.
    ///
    /// Never prompts, and blocks only while the simulated machine applies it.
    ///
    /// - Throws: `SimulatorError` when nothing is enrolled.
    public func replaceFinger() throws { try control(.replaceFinger) }

    /// Advances the clock. All timers that become due run before this returns.
    ///
    /// Never prompts, and blocks only while the simulated machine applies it.
    ///
    /// - Parameter duration: the time to advance by; fractions of a second are dropped, and a negative duration counts
    ///   as zero.
    /// - Throws: `SimulatorError` when the state cannot be stored.
    public func advance(by duration: Duration) throws {
        try control(.advance(seconds: UInt64(clamping: duration.components.seconds)))
    }

    /// Locks the device: prompts end with `LAError.systemCancel`, and the proofs of all contexts are revoked.
    ///
    /// - Throws: `SimulatorError` when the machine cannot be reached.
    public func lock() throws { try control(.lock) }

    /// Unlocks the device, by biometry or by the passcode.
    ///
    /// Never prompts, and blocks only while the simulated machine applies it.
    ///
    /// - Parameter byBiometry: true for an unlock by biometry, which apps can reuse for up to five minutes
    ///   (`LAContext.touchIDAuthenticationAllowableReuseDuration`); false for the passcode.
    /// - Throws: `SimulatorError` when the machine cannot be reached.
    public func unlock(byBiometry: Bool) throws { try control(.unlock(byBiometry: byBiometry)) }

    /// Moves the app to the background or to the foreground. In the background its prompts end with
    /// `LAError.systemCancel`, and no new one is shown.
    ///
    /// - Parameter isInBackground: whether the app is in the background.
    /// - Throws: `SimulatorError` when the machine cannot be reached.
    public func setInBackground(_ isInBackground: Bool) throws { try control(.background(isInBackground)) }

    /// Sets the user's answer to an app's request to use Face ID. Without a call of this function it is `allowed`.
    ///
    /// When the permission is withdrawn during a scan, the evaluation ends with `LAError.biometryNotAvailable`.
    ///
    /// - Parameters:
    ///   - permission: the answer of the user.
    ///   - application: the name of the app; nil for the app under test.
    public func setFaceIDPermission(_ permission: FaceIDPermission, of application: String? = nil) {
        machine.setFacePermission(application ?? self.application, permission.isAllowed)
    }

    /// Restarts the machine: another boot on the same store. All contexts lose their proofs, and all prompts end.
    ///
    /// - Throws: `SimulatorError` when the store cannot be opened.
    public func restart() throws {
        do throws(Failure) { try machine.restart() } catch { throw SimulatorError(error) }
    }

    /// Sets the first passcode of a machine without one. Never prompts.
    ///
    /// - Parameter passcode: the passcode, at least 4 characters.
    /// - Throws: `SimulatorError` when the passcode cannot be set.
    public func setPasscode(_ passcode: String) throws {
        try call(Request.PasscodeChange.set(SecretBytes(passcode.utf8)))
    }

    /// Changes the passcode: enters the old one in the daemon's prompt, and cancels the prompt when it is wrong.
    ///
    /// Blocks until the prompt has ended. Queued actions wait until then.
    ///
    /// - Parameters:
    ///   - old: the passcode to enter.
    ///   - new: the new passcode, at least 4 characters.
    /// - Throws: `SimulatorError` when the old passcode is wrong or the new one is not accepted.
    public func changePasscode(from old: String, to new: String) throws {
        try call(.change(SecretBytes(new.utf8)), entering: old)
    }

    /// Removes the passcode, and with it every item that needs one: enters the passcode in the daemon's prompt, and
    /// cancels the prompt when it is wrong.
    ///
    /// Blocks until the prompt has ended. Queued actions wait until then.
    ///
    /// - Parameter passcode: the passcode to enter.
    /// - Throws: `SimulatorError` when the passcode is wrong.
    public func removePasscode(_ passcode: String) throws { try call(.remove, entering: passcode) }

    private func call(_ change: Request.PasscodeChange, entering passcode: String) throws {
        try machine.world.playing([.passcode(SecretBytes(passcode.utf8)), .cancel]) { try call(change) }
    }

    // MARK: - Faults

    /// A fault that a script can inject once.
    public enum Fault: Sendable {
        /// The next durable write fails with `errSecDiskFull` and changes nothing.
        case diskFull
        /// The next `SecItem` call fails with `errSecMissingEntitlement`.
        case missingEntitlement
        /// The sensor fails as soon as it is armed: `LAError.biometryNotAvailable`, or the passcode where the policy
        /// accepts it.
        case sensor

        var simulated: SimulatedFailure {
            switch self {
            case .diskFull: .diskFull
            case .missingEntitlement: .missingEntitlement
            case .sensor: .sensor
            }
        }
    }

    /// Makes the next operation to which the fault applies fail, once.
    ///
    /// Never prompts, and blocks only while the simulated machine applies it.
    ///
    /// - Parameter fault: the fault to inject.
    /// - Throws: `SimulatorError` when the machine cannot be reached.
    public func failNext(_ fault: Fault) throws { try control(.fail(fault.simulated)) }

    // MARK: - Transcript

    /// What has happened since the machine was created, or since `clearTranscript`.
    public var transcript: Transcript { Transcript(lines: machine.world.transcript) }

    /// Removes all lines of the transcript.
    public func clearTranscript() { machine.world.record.clear() }
}
