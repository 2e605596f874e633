// SPDX-License-Identifier: Apache-2.0

import Glibc
public import LatchkeyModel
import LatchkeySystem

/// What this machine has and lacks, as `latchkey doctor` examines it.
public enum Health {
    /// A part of the machine.
    public struct Row: Equatable, Sendable {
        /// The result of the examination.
        public enum State: CaseIterable, Sendable {
            /// It works.
            case works
            /// It does not work, or protects less than it should.
            case attention
            /// An optional part that is not there, or not known.
            case absent
        }

        /// The next step.
        public enum Fix: Equatable, Sendable {
            /// `KeychainControl.setPasscode()`.
            case setPasscode
            /// `KeychainControl.checkPasscode(reason:)`.
            case checkPasscode
            /// `FingerprintControl.enroll`.
            case enrollFinger
            /// Any call of `KeychainControl`, which starts the daemon.
            case startDaemon
            /// `Health.startAgent()`.
            case startAgent
            /// A command of the shell that mends it.
            case command(String, needsRoot: Bool)
        }

        /// The part's name.
        public let name: String
        /// The result of the examination.
        public let state: State
        /// What was found, as a phrase for people.
        public let found: Phrase
        /// The next step; nil if nothing needs to be done, or if nothing can be.
        public let fix: Fix?
        /// Whether the part works although it needs attention: it protects less than it should.
        public let isWeak: Bool

        init(_ row: DoctorRow) {
            name = row.name
            found = row.found
            state =
                switch row.state {
                case .ok: .works
                case .attention: .attention
                case .absent: .absent
                }
            fix = row.hint.map { Fix($0, of: row.name) }
            isWeak = row.isWeak
        }
    }

    /// Examines the machine. Changes nothing, starts no daemon, shows no prompt; may take seconds.
    ///
    /// - Returns: all rows, in the order in which defects should be mended.
    public static func rows() -> [Row] {
        // Without the program the row of the sensor names no fingers; the page of the fingers says that it is missing.
        Doctor.rows(fingerprints: try? FingerprintProgram.find()).map { Row($0) }
    }

    /// Why the daemon uses no fingerprint reader.
    public enum SensorHindrance: CaseIterable, Sendable {
        /// The program that asks the reader is not installed.
        case noProgram
        /// The service of fingerprint readers is not installed.
        case noService
        /// This program is in no login session at this computer that is active.
        case noSession
        /// Another reason, such as a reader that a program simulates.
        case other
    }

    /// Finds out why the daemon uses no fingerprint reader. Changes nothing; may take seconds.
    public static func sensorHindrance() -> SensorHindrance {
        let places = MachinePlaces()
        let isSystem = TierFacts(places).isSystem
        if DoctorRow.sensorProgram(ProgramFacts(seconds: 2), isSystem: isSystem).state != .ok { return .noProgram }
        if DoctorRow.fingerprintService(places).state != .ok { return .noService }
        if DoctorRow.loginSession(LoginFacts(places, seconds: 2)).state != .ok { return .noSession }
        return .other
    }

    /// Longest time in seconds until a program that shows prompts is ready.
    private static let agentSeconds: Int64 = 10

    /// Starts the program that shows prompts, which the session's autostart entry names. Blocks until prompts can be shown.
    ///
    /// - Throws: `SettingsFailure` with code `notFound` if no entry names one that exists, and `other` if it is not ready
    ///   after ten seconds.
    public static func startAgent() throws(SettingsFailure) {
        let facts = AgentFacts(MachinePlaces())
        guard facts.isProgramThere, let program = facts.program else {
            throw SettingsFailure(.notFound, "The program that shows prompts is not installed.")
        }
        do throws(SystemError) {
            let ready = try ReadySocket()
            // setsid(1) forks, so that this process has no child to wait for.
            let process = try Processes.spawn(
                "/usr/bin/env", ["NOTIFY_SOCKET=\(ready.name)", "/usr/bin/setsid", "-f", program],
                descriptors: [nil, nil, nil], newSession: true)
            Processes.wait(process)
            if try ready.wait(seconds: agentSeconds) { return }
        } catch {
            throw SettingsFailure(Failure(error, "\(program) cannot be started"))
        }
        throw SettingsFailure(
            .other, "The program that shows prompts was started, but is not ready yet. Try again in a moment.")
    }
}

extension Health.Row.Fix {
    init(_ hint: DoctorRow.Hint, of row: String) {
        switch (row, hint.command) {
        case ("passcode", "latchkey passcode set"): self = .setPasscode
        case (_, "latchkey passcode check"): self = .checkPasscode
        case ("sensor", "latchkey fingerprint enroll"): self = .enrollFinger
        case (_, "latchkey status"): self = .startDaemon
        case ("agent", let command) where command.hasPrefix("setsid -f "): self = .startAgent
        case (_, let command): self = .command(command, needsRoot: hint.needsRoot)
        }
    }
}
