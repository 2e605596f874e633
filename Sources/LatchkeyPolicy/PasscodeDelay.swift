// SPDX-License-Identifier: Apache-2.0

extension PolicyState {
    /// Wrong passcodes in a row from which on the delay does not grow any more.
    private static let lastPasscodeDelay = 6

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

    /// Whether the passcode has to be entered before biometry counts again, as Apple's platform security guide has it:
    /// after a restart, after 48 hours without either, and after 156 hours without the passcode when biometry was not
    /// used for 4.
    package var isPasscodeDue: Bool {
        guard let lastPasscode else { return true }
        let hour: Int64 = 3_600_000_000_000
        let lastBiometry = lastBiometry ?? lastPasscode
        return now - max(lastPasscode, lastBiometry) > 48 * hour
            || (now - lastPasscode > 156 * hour && now - lastBiometry > 4 * hour)
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

    /// Counts a passcode that was checked.
    mutating func countPasscode(isRight: Bool, at time: Int64) {
        if isRight {
            passcodeFailures = 0
            passcodeBlockedUntil = 0
            lastPasscode = now
            // Only a passcode clears a lockout (behaviour LA-28).
            biometryFailures = 0
        } else {
            passcodeFailures = min(passcodeFailures + 1, 1_000_000)
            let delay = Self.passcodeDelay(afterFailures: passcodeFailures)
            passcodeBlockedUntil = delay == 0 ? 0 : time &+ delay
        }
    }
}
