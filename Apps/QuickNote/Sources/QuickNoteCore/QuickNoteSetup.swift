// SPDX-License-Identifier: Apache-2.0

public import LatchkeyKit
import LocalAuthentication

/// What the app stands on; everything a test replaces.
public struct QuickNoteSetup: Sendable {
    /// The prefix of the app's items in the keychain.
    public var service: String
    /// What time it is.
    public var clock: any IdleClock
    /// Time without input after which the notes lock; nil for never.
    public var autoLock: Duration?
    /// Time after a change after which it is saved.
    public var autoSave: Duration
    /// Makes a context for each attempt.
    public var makeContext: @Sendable () -> sending any BiometryEvaluating
    /// How the key is kept behind biometry, the best way first.
    var biometryProtections: [KeychainProtection]

    /// The app as people use it.
    ///
    /// - Parameters:
    ///   - service: prefix of the app's items.
    ///   - clock: what time it is.
    ///   - autoLock: time without input after which the notes lock.
    ///   - autoSave: time after a change after which it is saved.
    public init(
        service: String = "QuickNote", clock: any IdleClock = SystemIdleClock(), autoLock: Duration? = .seconds(300),
        autoSave: Duration = .seconds(1)
    ) {
        self.service = service
        self.clock = clock
        self.autoLock = autoLock
        self.autoSave = autoSave
        makeContext = { LAContext() }
        biometryProtections = [
            .currentBiometry,
            // Where no passcode is set, or the tier cannot bind items to the enrolled set: the monitor looks at it then.
            KeychainProtection(.whenUnlockedThisDeviceOnly, constraints: .biometryAny),
        ]
    }

    /// Reads launch arguments.
    ///
    /// - Parameter arguments: those of the process, without its name.
    ///   `--test-biometry=success|cancel|failure` puts a double in place of the sensor, with items of a name of their
    ///   own, so that nobody's notes are ever touched by it. It exists in debug builds alone.
    /// - Returns: a sentence for an argument that this build does not take; nil when all are well.
    public mutating func apply(arguments: [String]) -> String? {
        for argument in arguments {
            guard argument.hasPrefix("--test-biometry=") else { return "There is no option \(argument)." }
            #if DEBUG
            let answer: ScriptedBiometry.Answer
            switch argument.dropFirst("--test-biometry=".count) {
            case "success": answer = .success
            case "cancel": answer = .failure(.userCancel)
            case "failure": answer = .failure(.authenticationFailed)
            default: return "\(argument): the answers are success, cancel and failure."
            }
            useTestDouble(answering: answer)
            #else
            return "\(argument) is for debug builds."
            #endif
        }
        return nil
    }

    #if DEBUG
    /// Puts a double in place of the sensor. Its answer protects nothing, so the key lies open in an item whose name
    /// says that it is for tests.
    public mutating func useTestDouble(answering answer: ScriptedBiometry.Answer) {
        service += ".test-double"
        makeContext = { ScriptedBiometry(answers: [answer], enrolledStateHash: Data("test double".utf8)) }
        biometryProtections = [.standard]
    }
    #endif
}
