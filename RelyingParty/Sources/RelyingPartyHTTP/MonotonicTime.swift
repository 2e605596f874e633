// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The monotonic clock of the system.
package enum MonotonicTime {
    package static var nanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
