// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import LatchkeyWire

// What the process reports.

extension ProcessSensors {
    /// Handles a message; false for one that the process may not send.
    func received(_ message: SensorMessage, _ link: Link) -> Bool {
        switch message {
        case .received(let number):
            guard let alarm = state.withLock({ $0.unconfirmed.removeValue(forKey: number) }) else { return false }
            alarm.cancel()
        case .sensor(let sensor): apply(sensor)
        case .scanned(let number, let event): return scanned(number, event)
        case .sessions(let number, let change, let sessions): return apply(number, change, sessions, link)
        case .log(let event, let message, let hint):
            let isWritten = state.withLock { state in
                // Each question for a reader that is absent has the same answer.
                guard state.logLines < Self.logLines, state.loggedTexts.insert("\(message)\n\(hint)").inserted else {
                    return false
                }
                state.logLines += 1
                return true
            }
            if isWritten { log.record(event.event, Failure(event.status, "\(message)", hint: "\(hint)")) }
        case .look, .arm, .disarm, .applied: return false
        }
        return true
    }

    private func apply(_ told: SensorState) {
        var sensor = told
        // fprintd's files belong to root, so that a process of the user cannot detect another finger of the same name.
        // Items that end with the enrolment set are refused, whatever such a process says.
        if !isTrusted { sensor.reportsEnrolmentChanges = false }
        if sensor.kind == .none { sensor = .absent }
        let (isChanged, waiting) = state.withLock { state in
            defer { (state.sensor, state.awaitingSensor) = (sensor, []) }
            if sensor.kind != .none { state.loggedTexts = [] }
            // The first state is the answer to callers that wait for it; without such callers it is a change.
            let isAnswer = state.sensor == nil && !state.awaitingSensor.isEmpty
            return (state.sensor != sensor && !isAnswer, state.awaitingSensor)
        }
        for answer in waiting { answer.put(sensor) }
        if isChanged { notifyObservers() }
    }

    private func scanned(_ number: UInt64, _ event: SensorEvent) -> Bool {
        let (scan, isKnown) = state.withLock { state in
            let scan = state.scans[number]
            if event == .failed || event == .disconnected { state.scans[number] = nil }
            return (scan, number <= state.lastNumber)
        }
        // A result of a scan that was ended meanwhile counts for no other one.
        scan?.events(event)
        return isKnown
    }

    private func apply(
        _ number: UInt64, _ told: SensorMessage.SessionChange, _ sessions: SessionState, _ link: Link
    ) -> Bool {
        let waiting = state.withLock { state -> [ReplyBox<SessionState>]? in
            guard state.unapplied < Self.unapplied else { return nil }
            state.unapplied += 1
            defer { (state.sessions, state.awaitingSessions) = (sessions, []) }
            return state.awaitingSessions
        }
        guard let waiting else { return false }
        for answer in waiting { answer.put(sessions) }
        let change: SessionEvent.Change =
            switch told {
            case .changed: .changed
            case .locked: .locked
            case .ended: .ended
            }
        report(change) { [self] in
            state.withLock { if $0.link === link { $0.unapplied -= 1 } }
            link.send(.applied(number))
        }
        return true
    }
}
