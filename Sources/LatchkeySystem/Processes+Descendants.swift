// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

extension Processes {
    /// Makes the orphans of this process's children its own children, so that every process that began with this one
    /// stays below it while it lives (prctl(2), PR_SET_CHILD_SUBREAPER).
    package static func adoptOrphans() throws(SystemError) {
        guard latchkey_adopt_orphans() == 0 else { throw SystemError("prctl") }
    }

    /// Kills a child and everything below it, and waits for the child. Processes that have changed their session are
    /// included if the child has adopted the orphans.
    package static func killTree(_ child: Int32) {
        // A process can start another one between the listing and its end; each round ends those of the one before.
        for _ in 0..<rounds {
            let below = descendants(of: child)
            guard !below.isEmpty else { break }
            for process in below { kill(process, SIGKILL) }
        }
        kill(child, SIGKILL)
        wait(child)
    }

    private static let rounds = 100
    private static let processLimit = 1 << 20

    /// The running processes below a process; empty if /proc cannot be read.
    private static func descendants(of root: pid_t) -> [pid_t] {
        guard let folder = try? Descriptor.open("/proc", O_RDONLY | O_DIRECTORY),
            let names = try? folder.names(limit: processLimit)
        else { return [] }
        var children: [pid_t: [pid_t]] = [:]
        for process in names.compactMap({ pid_t($0) }) {
            // A process that has ended meanwhile has no record.
            guard let bytes = try? Descriptor.open("/proc/\(process)/stat", O_RDONLY).readAll(limit: 4096),
                let record = ProcessRecord(bytes), record.state != "Z"
            else { continue }
            children[record.parent, default: []].append(process)
        }
        var found: [pid_t] = []
        var rest = children[root] ?? []
        while let process = rest.popLast() {
            found.append(process)
            rest += children[process] ?? []
        }
        return found
    }
}
