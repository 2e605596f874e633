// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Durations of one kind of call.
struct Samples: Sendable {
    private var nanoseconds: [Int64] = []

    /// Runs `body` and keeps how long it took.
    @inline(__always)
    mutating func time<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        let began = Samples.now
        let result = try body()
        nanoseconds.append(Samples.now - began)
        return result
    }

    /// Keeps what someone else has measured.
    mutating func append(_ duration: Int64) { nanoseconds.append(duration) }

    /// How many there are.
    var count: Int { nanoseconds.count }

    /// The middle one, in microseconds.
    var median: Double { quantile(0.5) }

    /// The one that 99 of 100 do not exceed, in microseconds.
    var percentile99: Double { quantile(0.99) }

    /// The longest, in microseconds.
    var longest: Double { quantile(1) }

    /// Nearest rank: a value that was measured, none between two.
    private func quantile(_ part: Double) -> Double {
        guard !nanoseconds.isEmpty else { return 0 }
        let rank = max(1, Int((part * Double(count)).rounded(.up)))
        return Double(nanoseconds.sorted()[rank - 1]) / 1000
    }

    /// Nanoseconds of a clock that nobody sets.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
