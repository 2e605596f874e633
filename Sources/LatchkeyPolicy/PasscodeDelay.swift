// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension PolicyState {
    /// Wrong passcodes in a row from which on the delay does not grow any more.
    package static let lastPasscodeDelay = 6

    /// Nanoseconds without passcode entry after that many wrong ones in a row.
    ///
    /// Apple states growing delays and an end after six (behaviour LA-30) and not the delays; these are ours. The
    /// end is a delay of an hour, since nothing outside Latchkey could lift it.
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

    /// Why the passcode has to be entered before biometry counts again, as Apple's platform security guide has it.
    package enum PasscodeDue: Hashable, Sendable {
        case afterRestart
        /// After 48 hours without either.
        case unusedForTwoDays
        /// After 156 hours without the passcode when biometry was not used for 4.
        case unusedForAWeek
    }

    /// Why the passcode is due; nil when it is not.
    package var passcodeDue: PasscodeDue? {
        guard let lastPasscode else { return .afterRestart }
        let hour: Int64 = 3_600_000_000_000
        let lastBiometry = lastBiometry ?? lastPasscode
        if now - lastPasscode > 156 * hour, now - lastBiometry > 4 * hour { return .unusedForAWeek }
        return now - max(lastPasscode, lastBiometry) > 48 * hour ? .unusedForTwoDays : nil
    }

    /// Whether the passcode has to be entered before biometry counts again.
    package var isPasscodeDue: Bool { passcodeDue != nil }

    /// Seconds in which no passcode is taken; 0 when one is.
    package var delaySeconds: Int64 {
        guard now < passcodeBlockedUntil else { return 0 }
        let (left, overflows) = passcodeBlockedUntil.subtractingReportingOverflow(now)
        return ((overflows ? .max : left) - 1) / 1_000_000_000 + 1
    }

    /// Takes every try for used up, since nobody knows how many were: only a right passcode helps, after the longest
    /// delay.
    package mutating func useUpTries(at now: Int64) {
        biometryFailures = Self.lockoutThreshold
        passcodeFailures = Self.lastPasscodeDelay
        passcodeBlockedUntil = now &+ Self.passcodeDelay(afterFailures: passcodeFailures)
        lastPasscode = nil
        lastBiometry = nil
    }

    /// Counts a match. The time is kept once in ten minutes, which is close enough for rules of hours.
    mutating func countMatch() -> Bool {
        let hadFailures = biometryFailures != 0
        biometryFailures = 0
        let isStale = now - (lastBiometry ?? lastPasscode ?? 0) > 600_000_000_000
        if isStale { lastBiometry = now }
        return hadFailures || isStale
    }

    /// Counts a passcode as wrong; it is counted before it is looked at.
    mutating func countWrongPasscode() {
        passcodeFailures = min(passcodeFailures + 1, 1_000_000)
        let delay = Self.passcodeDelay(afterFailures: passcodeFailures)
        passcodeBlockedUntil = delay == 0 ? 0 : now &+ delay
    }

    /// Counts a passcode as right.
    /// - Returns: what there is to keep.
    mutating func countRightPasscode() -> [PolicyEffect] {
        let before = counters
        passcodeFailures = 0
        passcodeBlockedUntil = 0
        lastPasscode = now
        // Only a passcode clears a lockout (behaviour LA-28).
        biometryFailures = 0
        return counters == before ? [] : [.keep(counters)]
    }

    /// Puts back what `countWrongPasscode` changed: the passcode was not looked at.
    mutating func takeBack(_ before: PolicyCounters) {
        passcodeFailures = before.passcodeFailures
        passcodeBlockedUntil = before.passcodeBlockedUntil
    }
}
