// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension PolicyState {
    /// Number of consecutive wrong passcodes after which the delay no longer grows.
    package static let lastPasscodeDelay = 6

    /// Returns for how long no passcode is accepted after `failures` consecutive wrong passcodes, in nanoseconds.
    ///
    /// Apple documents that delays grow and that entry is disabled after six wrong passcodes (behaviour LA-30), but
    /// not the delays; these values are Latchkey's. The final state is a delay of an hour, since there is no other
    /// device or service that could enable entry again.
    package static func passcodeDelay(afterFailures failures: Int) -> Int64 {
        let seconds: Int64 =
            switch failures {
            case ..<3: 0
            case 3: 5
            case 4: 60
            case 5: 300
            default: 3600
            }
        return seconds * 1_000_000_000
    }

    /// Why the passcode is required before biometry is accepted (Apple Platform Security guide).
    package enum PasscodeDue: Hashable, Sendable {
        /// The passcode was not entered since the machine started.
        case afterRestart
        /// Neither passcode nor biometry was used for more than 48 hours.
        case unusedForTwoDays
        /// The passcode was not entered for more than 156 hours and biometry was not used for more than 4 hours.
        case unusedForAWeek
    }

    /// Why the passcode is required before biometry is accepted; nil if it is not required.
    package var passcodeDue: PasscodeDue? {
        guard let lastPasscode else { return .afterRestart }
        let hour: Int64 = 3_600_000_000_000
        let lastBiometry = lastBiometry ?? lastPasscode
        if now - lastPasscode > 156 * hour, now - lastBiometry > 4 * hour { return .unusedForAWeek }
        return now - max(lastPasscode, lastBiometry) > 48 * hour ? .unusedForTwoDays : nil
    }

    package var isPasscodeDue: Bool { passcodeDue != nil }

    /// Seconds, rounded up, until a passcode is accepted again; 0 if entry is not delayed.
    package var delaySeconds: Int64 {
        guard now < passcodeBlockedUntil else { return 0 }
        let (left, overflows) = passcodeBlockedUntil.subtractingReportingOverflow(now)
        return ((overflows ? .max : left) - 1) / 1_000_000_000 + 1
    }

    /// Assumes the maximum failure counts, because the stored counters are missing or unreadable.
    ///
    /// Biometry is locked, and the next passcode is accepted after the longest delay.
    package mutating func useUpTries(at now: Int64) {
        biometryFailures = Self.lockoutThreshold
        passcodeFailures = Self.lastPasscodeDelay
        passcodeBlockedUntil = now &+ Self.passcodeDelay(afterFailures: passcodeFailures)
        lastPasscode = nil
        lastBiometry = nil
    }

    /// Resets the biometry failures after a match, and updates the time of the last match if it is older than ten
    /// minutes, which is precise enough for rules that count in hours.
    ///
    /// - Returns: whether the counters changed and must be stored.
    mutating func countMatch() -> Bool {
        let hadFailures = biometryFailures != 0
        biometryFailures = 0
        // A match by a weak sensor does not postpone the next passcode.
        let isStale = !sensor.isWeak && now - (lastBiometry ?? lastPasscode ?? 0) > 600_000_000_000
        if isStale { lastBiometry = now }
        return hadFailures || isStale
    }

    /// Counts an entered passcode as wrong; called before the passcode is verified.
    mutating func countWrongPasscode() {
        passcodeFailures = min(passcodeFailures + 1, 1_000_000)
        let delay = Self.passcodeDelay(afterFailures: passcodeFailures)
        passcodeBlockedUntil = delay == 0 ? 0 : now &+ delay
    }

    /// Resets the failure counters and the delay after a correct passcode.
    ///
    /// - Returns: the effect that stores the counters; none if they did not change.
    mutating func countRightPasscode() -> [PolicyEffect] {
        let before = counters
        passcodeFailures = 0
        passcodeBlockedUntil = 0
        lastPasscode = now
        // Only a passcode clears a lockout (behaviour LA-28).
        biometryFailures = 0
        countAgain()
        return counters == before ? [] : [.persist(counters)]
    }

    /// Counts the passcode that is being verified again, if there is one: the right passcode of an evaluation that has
    /// ended must not yield a free try to another one.
    private mutating func countAgain() {
        guard let index = active.firstIndex(where: \.isVerifying),
            case .passcode(let secret, let entry) = active[index].phase
        else { return }
        if case .counting = entry {
            active[index].phase = .passcode(secret, .counting(since: counters))
        } else {
            active[index].phase = .passcode(secret, .verifying(since: counters))
        }
        countWrongPasscode()
    }

    /// Undoes `countWrongPasscode` for a passcode that was not verified.
    mutating func takeBack(_ before: PolicyCounters) {
        passcodeFailures = before.passcodeFailures
        passcodeBlockedUntil = before.passcodeBlockedUntil
    }
}
