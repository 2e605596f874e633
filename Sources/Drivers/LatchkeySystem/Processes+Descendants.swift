// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

extension Processes {
    /// Makes the orphans of this process's children its own children, so that every process that began with this one
    /// stays below it while it lives (prctl(2), PR_SET_CHILD_SUBREAPER).
    package static func adoptOrphans() throws(SystemError) {
        guard latchkey_adopt_orphans() == 0 else { throw SystemError("prctl") }
    }

    private static let rounds = 100
    private static let processLimit = 1 << 20

    /// Kills the processes below a child of this process that has not been reaped.
    ///
    /// Each round kills the child's own children. Those of a process that has ended become the child's, if it has adopted
    /// the orphans, so a later round finds them; and so it finds those that were started after the listing.
    static func killDescendants(of root: pid_t) {
        for _ in 0..<rounds {
            let found = listing()
            guard hasDescendants(root, found) else { return }
            for process in found where process.record.parent == root && process.isRunning { end(process) }
            sched_yield()
        }
    }

    /// A process as it was listed.
    private struct Listed {
        let number: pid_t
        let record: ProcessRecord
        var isRunning: Bool { record.state != "Z" && record.state != "X" }
    }

    /// Kills a process if it is still the one that was listed. The number alone could be that of another process by now.
    private static func end(_ listed: Listed) {
        let number = latchkey_pidfd_open(listed.number)
        guard number >= 0 else { return }
        let handle = Descriptor(owning: number)
        // If the process is alive after its record was read, the record is of the process that the pidfd names.
        guard let record = record(of: listed.number), record.startTime == listed.record.startTime,
            record.parent == listed.record.parent,
            (try? handle.wait(for: POLLIN, until: 0)) == false  // Unknown counts as another process.
        else { return }
        _ = latchkey_pidfd_signal(handle.number, SIGKILL)
    }

    private static func record(of process: pid_t) -> ProcessRecord? {
        // A process that has ended meanwhile has no record.
        (try? Descriptor.open("/proc/\(process)/stat", O_RDONLY).readAll(limit: 4096)).flatMap { ProcessRecord($0) }
    }

    /// All processes; empty if /proc cannot be read.
    private static func listing() -> [Listed] {
        guard let folder = try? Descriptor.open("/proc", O_RDONLY | O_DIRECTORY),
            let names = try? folder.names(limit: processLimit)
        else { return [] }
        return names.compactMap { name in
            pid_t(name.description).flatMap { number in record(of: number).map { Listed(number: number, record: $0) } }
        }
    }

    /// Whether a process below `root` runs. One that has ended still leads to its children: it can have ended after they
    /// were listed as such.
    private static func hasDescendants(_ root: pid_t, _ found: [Listed]) -> Bool {
        let children = Dictionary(grouping: found, by: \.record.parent)
        var rest = children[root] ?? []
        var seen: Set<pid_t> = [root]
        while let process = rest.popLast() {
            if process.isRunning { return true }
            if seen.insert(process.number).inserted { rest += children[process.number] ?? [] }
        }
        return false
    }
}
