// SPDX-License-Identifier: Apache-2.0

/// The answer of the simulated machine to a command.
package enum SimulatorAnswer: Equatable, Sendable {
    case done
    /// Whether a prompt was waiting for the simulated touch.
    case delivered(Bool)
    case reported([String])
}

/// A command of a script to the simulated machine.
package enum SimulatorCommand: Equatable, Sendable {
    /// Replaces the sensor; `none` disconnects it.
    case sensor(BiometryKind)
    /// Enrols one more finger or face.
    case enroll
    /// Removes all enrolled fingers or faces.
    case unenroll
    /// Replaces an enrolled finger by another.
    case replaceFinger
    /// Touches the fingerprint sensor, as soon as it scans.
    case touch(matching: Bool)
    /// Presents a face or eyes to the camera, as soon as it scans.
    case look(matching: Bool)
    /// A scan that the sensor cannot use, as soon as it scans.
    case guide(SensorGuidance)
    /// Unplugs the sensor as soon as it scans. `sensor` connects it again.
    case unplug
    case advance(seconds: UInt64)
    /// Drops scripted actions that were not used yet.
    case reset
    /// Sets how the simulated person answers prompts.
    case answer(SimulatedAnswers)
    case lock
    /// Unlocks the device by biometry or by passcode.
    case unlock(byBiometry: Bool)
    /// Moves the apps to the background or to the foreground.
    case background(Bool)
    /// The user answers whether the app may use Face ID.
    case permission(Bool)
    /// Makes the next matching operation fail once.
    case fail(SimulatedFailure)
    /// Sets whether a prompt accepts any text as the passcode.
    case acceptAnyPasscode(Bool)
    /// The user cancels, as soon as a prompt accepts it.
    case cancel
    /// The user chooses the fallback, as soon as a prompt accepts it.
    case fallback
    /// The user enters a passcode, as soon as a prompt accepts it.
    case enter(SecretBytes)
    /// The user confirms that the recovery code is written down, as soon as a prompt accepts it.
    case acknowledgeCode
    /// The user enters a recovery code, as soon as a prompt accepts it.
    case enterCode(SecretBytes)
    /// The user enters a new passcode once, as soon as a prompt accepts it; a prompt asks for it twice.
    case enterNewPasscode(SecretBytes)
    /// The user answers whether a program may read an item of another one, as soon as a prompt asks.
    case choose(SecretAnswer)
    /// Returns the recovery code that a prompt showed last, which a user would read from the screen.
    case reportCode
    /// Restarts the simulated machine; the client that sends this ends the daemon.
    case restart
}

/// A failure that a script causes once.
package enum SimulatedFailure: UInt8, CaseIterable, Sendable {
    /// The next durable write fails because the disk is full.
    case diskFull = 1
    /// The next item request fails because the app may not use the access group.
    case missingEntitlement = 2
    /// The sensor ends the next scan with a failure.
    case sensor = 3
}

/// How the simulated person answers prompts.
package enum SimulatedAnswers: UInt8, CaseIterable, Sendable {
    /// By the queued actions.
    case byRule = 1
    /// By whatever the prompt asks for. Queued actions wait.
    case always = 2
    /// By cancelling each prompt. Queued actions wait.
    case never = 3
}
