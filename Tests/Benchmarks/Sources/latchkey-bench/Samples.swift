// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The durations of one kind of call.
struct Samples: Sendable {
    private var nanoseconds: [Int64] = []

    /// Runs `body` and records its duration.
    @inline(__always)
    mutating func time<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        let began = Samples.now
        let result = try body()
        nanoseconds.append(Samples.now - began)
        return result
    }

    /// Records a duration in nanoseconds that another process measured.
    mutating func append(_ duration: Int64) { nanoseconds.append(duration) }

    /// The number of durations.
    var count: Int { nanoseconds.count }

    /// The median in microseconds.
    var median: Double { quantile(0.5) }

    /// The 99th percentile in microseconds.
    var percentile99: Double { quantile(0.99) }

    /// The longest duration in microseconds.
    var longest: Double { quantile(1) }

    /// The quantile by nearest rank, without interpolation, in microseconds.
    private func quantile(_ part: Double) -> Double {
        guard !nanoseconds.isEmpty else { return 0 }
        let rank = max(1, Int((part * Double(count)).rounded(.up)))
        return Double(nanoseconds.sorted()[rank - 1]) / 1000
    }

    /// The monotonic clock in nanoseconds.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
