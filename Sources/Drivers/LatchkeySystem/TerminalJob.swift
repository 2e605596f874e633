// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A process's state with respect to its controlling terminal, from `/proc/PID/stat` (proc(5)).
package struct TerminalJob: Sendable {
    /// The device number of the controlling terminal; 0 when there is none.
    package let terminal: UInt64
    /// Whether the process is stopped, for instance by Ctrl-Z.
    package let isStopped: Bool
    /// Whether another process group, for instance a shell, is the terminal's foreground group.
    package let isInBackground: Bool
    /// Its start time, in clock ticks since boot; unchanged by execve(2).
    package let startTime: UInt64

    /// Reads the record; nil when the process does not exist.
    package init?(_ process: Int32) {
        guard let bytes = try? Descriptor.open("/proc/\(process)/stat", O_RDONLY) else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(bytes.number, &buffer, buffer.count)
        guard count > 0, let record = ProcessRecord(buffer[..<count]) else { return nil }
        startTime = record.startTime
        terminal = record.terminal
        isStopped = record.state == "T"
        isInBackground = record.processGroup != record.terminalGroup
    }
}
