// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// When to move the store generation without a security event, so that older copies of the database are refused.
struct Anchoring: Sendable {
    /// Whether anything was written since the store generation last moved.
    var isDue = false
    /// Timed moves left in the current day.
    var budget = Limits.timedMovesPerDay
    /// Start of that day, in nanoseconds of the boot-time clock.
    var budgetBegan: Int64 = 0
    /// Called on the first write after each move of the store generation.
    var handler: (@Sendable () -> Void)?
}

extension Keychain {
    /// Nanoseconds of a day.
    private static let day: Int64 = 86_400_000_000_000

    /// Whether the store generation has not moved in this boot yet. The first write of a boot must move it, also when
    /// that write is only the audit entry for the use of a protected item.
    package var isFirstOfBoot: Bool { !isOfThisBoot(anchor.record?.bootID ?? []) }

    /// Sets the callback for the first write after each move of the store generation.
    package func whenAnchoringIsDue(_ handler: @escaping @Sendable () -> Void) {
        anchoring.withLock { $0.handler = handler }
    }

    /// Records that the database is newer than the anchor, and calls the handler on the first such write.
    func recordWrite() {
        let handler = anchoring.withLock { state in
            defer { state.isDue = true }
            return state.isDue ? nil : state.handler
        }
        handler?()
    }

    /// Whether something was written since the store generation last moved.
    package var isAnchoringDue: Bool { anchoring.withLock { $0.isDue } }

    /// Commits a new store generation, so that every earlier copy of the database is refused. Does nothing while the
    /// anchor is not clean, or when a timed move exceeds the day's budget.
    ///
    /// - Parameter isTimed: whether the timer requests the move; timed moves have a budget of
    ///   `Limits.timedMovesPerDay`.
    package func moveAnchor(isTimed: Bool) throws(Failure) {
        let now = clock.uptime
        let isAllowed = anchoring.withLock { state in
            guard isTimed else { return true }
            if now - state.budgetBegan >= Self.day || now < state.budgetBegan {
                state.budget = Limits.timedMovesPerDay
                state.budgetBegan = now
            }
            guard state.budget > 0 else { return false }
            state.budget -= 1
            return true
        }
        guard isAllowed, anchor.condition == .clean else { return }
        try carryOut(.anchored, .anchored, caller: nil) { _ throws(Failure) in }
    }
}
