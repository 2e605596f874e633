// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Login sessions that the test changes, and the session of the program that asks.
final class ScriptedSessions: SessionMonitor {
    typealias Report = @Sendable (SessionEvent, @escaping @Sendable () -> Void) -> Void

    private struct Script: Sendable {
        var state = SessionState(isLocked: false, biometry: .every)
        var callerSession = ""
    }
    private let script = Mutex(Script())
    let report = Mutex<Report?>(nil)

    func sessions(of user: UInt32) -> SessionState { script.withLock { $0.state } }
    func observeSession(_ report: @escaping Report) { self.report.withLock { $0 = report } }

    /// The login session in which the program runs.
    var callerSession: String {
        get { script.withLock { $0.callerSession } }
        set { script.withLock { $0.callerSession = newValue } }
    }

    func identity(_ identity: ProgramIdentity) -> ProgramIdentity {
        var identity = identity
        identity.session = callerSession
        return identity
    }

    /// Changes the state and reports the event; returns whether it has taken effect.
    @discardableResult
    func send(
        _ change: SessionEvent.Change, isLocked: Bool? = nil, biometry: BiometrySessions? = nil,
        user: UInt32? = TwoServices.userID
    ) -> Bool {
        script.withLock { script in
            if let isLocked { script.state.isLocked = isLocked }
            if let biometry { script.state.biometry = biometry }
        }
        let isDone = Mutex(false)
        let done = Noted(isDone)
        report.withLock { $0 }?(SessionEvent(user: user, session: "2", change)) { done.isDone.withLock { $0 = true } }
        return done.isDone.withLock { $0 }
    }

    private final class Noted: Sendable {
        let isDone: Mutex<Bool>
        init(_ isDone: consuming sending Mutex<Bool>) { self.isDone = isDone }
    }
}
