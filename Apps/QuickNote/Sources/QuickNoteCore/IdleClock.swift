// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The clocks of the app: the date, and a monotonic clock that measures inactivity.
public protocol IdleClock: Sendable {
    /// Time since an arbitrary start; monotonic, and counts while the machine is suspended.
    var elapsed: Duration { get }
    /// The current date.
    var date: Date { get }
}

/// The clocks of the machine.
public struct SystemIdleClock: IdleClock {
    private let start = ContinuousClock.now

    /// Creates a clock that starts at zero.
    public init() {}

    /// Time since the creation of this clock.
    public var elapsed: Duration { ContinuousClock.now - start }

    /// The current date.
    public var date: Date { Date() }
}
