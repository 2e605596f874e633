// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// When the store generation moves without a security event, so that older copies of the database are refused.
struct Anchoring: Sendable {
    /// Whether something was written that no anchor knows of.
    var isDue = false
    /// Moves by the clock that are left of the day's budget.
    var budget = 24
    /// When that budget began, in nanoseconds of the boot clock.
    var budgetBegan: Int64 = 0
    /// Called when something was written for the first time since the store generation last moved.
    var handler: (@Sendable () -> Void)?
}

extension Keychain {
    /// Nanoseconds of a day.
    private static let day: Int64 = 86_400_000_000_000

    /// Whether the store generation has not moved in this boot: the first write and the first use of a protected item of a
    /// boot move it.
    package var isFirstOfBoot: Bool { !isOfThisBoot(anchor.record?.bootID ?? []) }

    /// Sets who is told that something was written for the first time since the store generation last moved.
    package func whenAnchoringIsDue(_ handler: @escaping @Sendable () -> Void) {
        anchoring.withLock { $0.handler = handler }
    }

    /// Notes a write that no anchor knows of.
    func noteWrite() {
        let handler = anchoring.withLock { state in
            defer { state.isDue = true }
            return state.isDue ? nil : state.handler
        }
        handler?()
    }

    /// Whether something was written since the store generation last moved.
    package var isAnchoringDue: Bool { anchoring.withLock { $0.isDue } }

    /// Moves the store generation to what is in the database now.
    ///
    /// - Parameter isTimed: whether the clock asks for it, which counts against the day's budget of 24.
    package func moveAnchor(isTimed: Bool) throws(Failure) {
        let now = clock.uptime
        let isAllowed = anchoring.withLock { state in
            guard isTimed else { return true }
            if now - state.budgetBegan >= Self.day || now < state.budgetBegan {
                state.budget = 24
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
