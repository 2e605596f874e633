// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Where a process stands with its terminal, from the kernel's record of it (proc(5), `/proc/PID/stat`).
package struct TerminalJob: Sendable {
    /// The device number of the controlling terminal; 0 when there is none.
    package let terminal: UInt64
    /// Whether it was stopped, by Ctrl-Z for instance.
    package let isStopped: Bool
    /// Whether another group of processes has the terminal's keys, a shell for instance.
    package let isInBackground: Bool
    /// When it began, in clock ticks since the machine started; executing another program does not change it.
    package let startTime: UInt64

    /// Reads the record; nil when there is no such process.
    package init?(_ process: Int32) {
        guard let bytes = try? Descriptor.open("/proc/\(process)/stat", O_RDONLY) else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(bytes.number, &buffer, buffer.count)
        guard count > 0, let text = String(validating: buffer[..<count], as: UTF8.self),
            // The name of the program is in parentheses and may hold anything, so fields count from the last one.
            let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 19, let device = Int32(fields[4]), let startTime = UInt64(fields[19]) else { return nil }
        self.startTime = startTime
        terminal = UInt64(UInt32(bitPattern: device))
        isStopped = fields[0] == "T"
        isInBackground = fields[5] != fields[2]
    }
}
