// SPDX-License-Identifier: Apache-2.0

public import LatchkeyKit
import LocalAuthentication

/// The dependencies and settings of the app, which tests replace.
public struct QuickNoteSetup: Sendable {
    /// The prefix of the app's items in the keychain.
    public var service: String
    /// The clocks.
    public var clock: any IdleClock
    /// Time without input after which the notes lock; nil for never.
    public var autoLock: Duration?
    /// Time after a change until it is saved.
    public var autoSave: Duration
    /// Creates a context for each attempt.
    public var makeContext: @Sendable () -> sending any BiometryEvaluating
    /// Access controls for the item protected by biometry, in order of preference.
    var biometryProtections: [KeychainProtection]

    /// Creates the setup of the real app.
    ///
    /// - Parameters:
    ///   - service: the prefix of the app's items.
    ///   - clock: the clocks.
    ///   - autoLock: time without input after which the notes lock.
    ///   - autoSave: time after a change until it is saved.
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
            // Used where no passcode is set or the tier cannot bind items to the enrolment; `EnrollmentMonitor` then
            // detects changes.
            KeychainProtection(.whenUnlockedThisDeviceOnly, constraints: .biometryAny),
        ]
    }

    /// Reads launch arguments.
    ///
    /// - Parameter arguments: the arguments of the process, without its name.
    ///   `--test-biometry=success|cancel|failure` replaces the sensor by a test double and uses separate items, so
    ///   that real notes are never touched. Only in debug builds.
    /// - Returns: an error message for an unknown argument; nil when all are valid.
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
    /// Replaces the sensor by a test double. Since its answer proves nothing to the keychain, the key is unprotected,
    /// in an item whose name marks it as a test.
    public mutating func useTestDouble(answering answer: ScriptedBiometry.Answer) {
        service += ".test-double"
        makeContext = { ScriptedBiometry(answers: [answer], enrolledStateHash: Data("test double".utf8)) }
        biometryProtections = [.standard]
    }
    #endif
}
