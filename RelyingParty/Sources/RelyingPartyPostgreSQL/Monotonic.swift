// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A clock that nothing sets, and which goes on while the machine sleeps.
enum Monotonic {
    static var milliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
