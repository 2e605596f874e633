// SPDX-License-Identifier: Apache-2.0

import CBenchLinux
import Foundation

/// Which cores the processes of a run stay on.
///
/// Waking a process on another core takes several times what either side does, and the scheduler puts one pair of
/// processes on one core and the next pair on two, for as long as they run. So the places are given: the same ones to
/// Latchkey and to its floors.
enum Cores: Sendable {
    /// Everybody on one core: what is measured is work.
    case one
    /// The caller on one core, the daemon and the other process of the floors on a second one.
    case two

    /// The number of cores in use.
    var count: Int { self == .one ? 1 : 2 }

    private static let first = bench_next_core(-1)
    private static let second = bench_next_core(first)

    /// Puts this thread, and all that is started from it, on the first core.
    func settleSelf() throws(BenchFailure) {
        // Both are looked up before the thread gives up its right to the second.
        if Cores.second < 0, self == .two { throw BenchFailure("There is no second core to use.") }
        guard bench_stay_on_core(0, CInt(Cores.first)) == 0 else { throw .system("sched_setaffinity") }
    }

    /// Puts every thread of another process where it belongs.
    func settle(_ process: pid_t) throws(BenchFailure) {
        let core = self == .one ? Cores.first : Cores.second
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        for thread in threads.compactMap({ CInt($0) }) {
            guard bench_stay_on_core(thread, CInt(core)) == 0 else { throw .system("sched_setaffinity") }
        }
    }
}
