// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What time it is: for dates, and for how long nobody did anything.
public protocol IdleClock: Sendable {
    /// Time that has passed since some moment; goes on while the machine sleeps, and never back.
    var elapsed: Duration { get }
    /// The date.
    var date: Date { get }
}

/// The machine's own clock.
public struct SystemIdleClock: IdleClock {
    private let start = ContinuousClock.now

    /// Begins to count.
    public init() {}

    /// Time since this was made.
    public var elapsed: Duration { ContinuousClock.now - start }

    /// The date.
    public var date: Date { Date() }
}
