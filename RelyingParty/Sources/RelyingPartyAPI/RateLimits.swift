// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Limits how often the clients of one network may send requests and proofs that are refused. Counted in memory; a
/// restart forgets the counts.
///
/// Refused proofs of a user or a key count for the network of the client as well, and never for the user or the key
/// alone: a stranger could lock out users otherwise.
package final class RateLimits: Sendable {
    /// A number of events at once, and one more after each interval.
    struct Rate {
        let burst: Int64
        /// In nanoseconds.
        let interval: Int64
    }

    /// What is counted, each for the network of a client.
    enum Subject: Hashable {
        case requests([UInt8])
        case failures([UInt8])
        case failuresOfUser([UInt8], String)
        case failuresOfKey([UInt8], [UInt8])

        var rate: Rate {
            switch self {
            case .requests: Rate(burst: 100, interval: 50_000_000)
            case .failures: Rate(burst: 30, interval: 2_000_000_000)
            case .failuresOfUser, .failuresOfKey: Rate(burst: 10, interval: 10_000_000_000)
            }
        }
    }

    /// The most subjects that are remembered: about 20 MiB.
    static let mostSubjects = 100_000
    /// When the events of a subject, one after each interval, would end, in nanoseconds of the monotonic clock. A time
    /// that has passed means the same as none.
    private let ends = Mutex<[Subject: Int64]>([:])
    private let clock: @Sendable () -> Int64
    /// How many subjects are remembered.
    var count: Int { ends.withLock(\.count) }

    /// - Parameter clock: a monotonic time in nanoseconds.
    package init(clock: @escaping @Sendable () -> Int64) { self.clock = clock }

    /// Counts an event if it is permitted.
    ///
    /// - Returns: nil if it is, otherwise the seconds until it will be, rounded up.
    func admit(_ subject: Subject) -> Int64? {
        let now = clock()
        return ends.withLock { ends in
            if let seconds = Self.wait(ends[subject], subject.rate, now) { return seconds }
            Self.count(subject, now, &ends)
            return nil
        }
    }

    /// Whether another event is permitted: nil, or the seconds until it will be, rounded up.
    func wait(_ subject: Subject) -> Int64? {
        let now = clock()
        return ends.withLock { Self.wait($0[subject], subject.rate, now) }
    }

    /// Counts an event that has happened.
    func count(_ subject: Subject) {
        let now = clock()
        ends.withLock { Self.count(subject, now, &$0) }
    }

    private static func wait(_ end: Int64?, _ rate: Rate, _ now: Int64) -> Int64? {
        let late = max(end ?? now, now) + rate.interval - now - rate.burst * rate.interval
        return late > 0 ? (late + 999_999_999) / 1_000_000_000 : nil
    }

    private static func count(_ subject: Subject, _ now: Int64, _ ends: inout [Subject: Int64]) {
        let rate = subject.rate
        // No more than one event beyond the burst, so that refused ones do not extend the wait for ever.
        let most = now + (rate.burst + 1) * rate.interval
        let end = min(max(ends[subject] ?? now, now) + rate.interval, most)
        if ends[subject] == nil, ends.count >= mostSubjects {
            ends = ends.filter { $0.value > now }
            // Clients of very many networks at once: all counts begin again, because memory must not grow.
            if ends.count >= mostSubjects { ends = [:] }
        }
        ends[subject] = end
    }
}
