// SPDX-License-Identifier: Apache-2.0

/// The fields of `/proc/PID/stat` (proc(5)) that Latchkey uses.
package struct ProcessRecord: Equatable, Sendable {
    /// The state, one letter.
    package let state: String
    package let parent: Int32
    package let processGroup: String
    package let terminalGroup: String
    /// The device number of the controlling terminal; 0 when there is none.
    package let terminal: UInt64
    /// Its start time, in clock ticks since boot; unchanged by execve(2).
    package let startTime: UInt64
    /// The addresses of code, stack, arguments and environment, which execve(2) randomises. The kernel shows them as
    /// zeros to a reader that may not trace the process.
    package let layout: [String]
    /// Whether execve(2) has passed on the environment. Before, the executable is the new one already, and
    /// `/proc/PID/environ` is empty. False also for a reader that may not trace the process.
    package let hasEnvironment: Bool

    /// A hash of the start time and the layout, which the kernel chooses anew at each execve(2), unless the process has turned
    /// that off (personality(2)): then two executions of the same program can have one.
    package var execution: UInt64 { ([String(startTime)] + layout).joined(separator: " ").utf8.shortHash }

    /// Parses the record; nil when it is malformed.
    package init?(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        // The program's name is in parentheses and may itself contain parentheses, spaces and incomplete characters, so
        // fields are counted from the last closing parenthesis. Field 3 of proc(5) has index 0.
        guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = bytes[(end + 1)...].split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
            .map { String(decoding: $0, as: UTF8.self) }
        guard fields.count > 49, let parent = Int32(fields[1]), let device = Int32(fields[4]),
            let startTime = UInt64(fields[19])
        else { return nil }
        state = fields[0]
        self.parent = parent
        processGroup = fields[2]
        terminal = UInt64(UInt32(bitPattern: device))
        terminalGroup = fields[5]
        self.startTime = startTime
        hasEnvironment = fields[48] != "0"
        layout = Array(fields[23...25] + fields[42...48])
    }
}
