// SPDX-License-Identifier: Apache-2.0

import CBenchLinux
import Foundation

/// The cores that the processes of a run are bound to.
///
/// Waking a process on another core takes several times as long as the work on either side, and the scheduler may
/// place one pair of processes on one core and another pair on two. Latchkey and its floors are therefore bound to the
/// same cores.
enum Cores: Sendable {
    /// All processes on one core, so that only their work is measured.
    case one
    /// The caller on one core, the daemon and the floor process on a second one.
    case two

    /// The number of cores in use.
    var count: Int { self == .one ? 1 : 2 }

    private static let first = bench_next_core(-1)
    private static let second = bench_next_core(first)

    /// Binds this thread, and all threads and processes that it starts, to the first core.
    func settleSelf() throws(BenchFailure) {
        // Both cores are looked up first: once bound to the first core, the thread can no longer see the second.
        if Cores.second < 0, self == .two { throw BenchFailure("There is no second core to use.") }
        guard bench_stay_on_core(0, CInt(Cores.first)) == 0 else { throw .system("sched_setaffinity") }
    }

    /// Binds every thread of another process to the core of the daemon and the floor process.
    func settle(_ process: pid_t) throws(BenchFailure) {
        let core = self == .one ? Cores.first : Cores.second
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        for thread in threads.compactMap({ CInt($0) }) {
            guard bench_stay_on_core(thread, CInt(core)) == 0 else { throw .system("sched_setaffinity") }
        }
    }
}
