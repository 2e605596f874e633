// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// What happens to the machine.

extension Simulator {
    /// Builds in another sensor; `none` takes it out. What was enrolled stays enrolled.
    public func connect(_ sensor: Sensor) throws { try control(.sensor(sensor.kind)) }

    /// Enrols one more finger or face: the enrolled set becomes another.
    public func enrol() throws { try control(.enrol) }

    /// Forgets everything that is enrolled.
    public func unenrol() throws { try control(.unenrol) }

    /// Replaces an enrolled finger by another: the enrolled set becomes another.
    public func replaceFinger() throws { try control(.replaceFinger) }

    /// Moves the clock on; what becomes due happens before this returns. Parts of a second are dropped.
    public func advance(by duration: Duration) throws {
        try control(.advance(seconds: UInt64(clamping: duration.components.seconds)))
    }

    /// Locks the device: prompts end with `systemCancel`, and what contexts had proven is forgotten.
    public func lock() throws { try control(.lock) }

    /// Unlocks the device, by biometry or by the passcode; an unlock by biometry can be reused for five minutes.
    public func unlock(byBiometry: Bool) throws { try control(.unlock(byBiometry: byBiometry)) }

    /// Puts the app into the background, where its prompts end and no new one is shown, or back in front.
    public func setInBackground(_ isInBackground: Bool) throws { try control(.background(isInBackground)) }

    /// Sets what an app was told about Face ID: `allowed` for every app until this says otherwise. A look under way ends
    /// with `biometryNotAvailable` when it is taken back. nil is the app under test.
    public func setFaceIDPermission(_ permission: FaceIDPermission, of application: String? = nil) {
        machine.setFacePermission(application ?? self.application, permission.isAllowed)
    }

    /// Pairs a device of that type, or another one, and brings it near.
    public func pair(_ companion: Companion) throws { try control(.pair(companion.type)) }

    /// Forgets the paired device of that type.
    public func unpair(_ companion: Companion) throws { try control(.unpair(companion.type)) }

    /// Brings a paired device near, or takes it away.
    public func setNearby(_ companion: Companion, _ isNearby: Bool) throws {
        try control(.nearby(companion.type, isNearby))
    }

    /// Restarts the machine: another boot on the same store. Contexts die, and so does every prompt.
    public func restart() throws {
        do throws(Failure) {
            try machine.restart()
        } catch {
            throw SimulatorError(error)
        }
    }

    /// Sets the first passcode.
    public func setPasscode(_ passcode: String) throws { try call(.passcode(.set(SecretBytes(passcode.utf8)))) }

    /// Changes the passcode: the person enters the old one at the daemon's prompt, and gives up when it is not taken.
    public func changePasscode(from old: String, to new: String) throws {
        try call(.passcode(.change(SecretBytes(new.utf8))), entering: old)
    }

    /// Removes the passcode and every item that needs one; the person enters it likewise.
    public func removePasscode(_ passcode: String) throws { try call(.passcode(.remove), entering: passcode) }

    private func call(_ request: Request, entering passcode: String) throws {
        try machine.world.playing([.passcode(SecretBytes(passcode.utf8)), .cancel]) { try call(request) }
    }

    // MARK: - What goes wrong

    /// Something that a script lets go wrong.
    public enum Fault: Sendable {
        /// The next durable write finds the disk full: `errSecDiskFull`, and nothing is changed.
        case diskFull
        /// The next `SecItem` call meets `errSecMissingEntitlement`.
        case missingEntitlement
        /// The sensor gives up as soon as it watches: `biometryNotAvailable`, or the passcode where that will do.
        case sensor

        var simulated: SimulatedFailure {
            switch self {
            case .diskFull: .diskFull
            case .missingEntitlement: .missingEntitlement
            case .sensor: .sensor
            }
        }
    }

    /// Lets something go wrong, once.
    public func failNext(_ fault: Fault) throws { try control(.fail(fault.simulated)) }

    // MARK: - What happened

    /// What happened since the machine was made, or since `clearTranscript`.
    public var transcript: Transcript { Transcript(lines: machine.world.transcript) }

    /// Begins a new transcript.
    public func clearTranscript() { machine.world.record.clear() }
}
