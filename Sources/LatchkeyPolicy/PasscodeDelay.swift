// SPDX-License-Identifier: Apache-2.0

extension PolicyState {
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

    /// Counts a passcode that was checked.
    mutating func countPasscode(isRight: Bool, at time: Int64) {
        if isRight {
            passcodeFailures = 0
            passcodeBlockedUntil = 0
            // Only a passcode clears a lockout (behaviour LA-28).
            biometryFailures = 0
        } else {
            passcodeFailures = min(passcodeFailures + 1, 1_000_000)
            let delay = Self.passcodeDelay(afterFailures: passcodeFailures)
            passcodeBlockedUntil = delay == 0 ? 0 : time &+ delay
        }
    }
}
