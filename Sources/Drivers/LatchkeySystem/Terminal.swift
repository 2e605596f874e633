// SPDX-License-Identifier: Apache-2.0

package import CLatchkeyLinux
import Glibc

/// A terminal and its modes.
package struct Terminal: Sendable {
    package let descriptor: Descriptor

    package init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// Opens the terminal with device number `device` if it exists and belongs to `user`.
    ///
    /// The number comes from the kernel's record of a process. Owner and number are compared after opening, so that
    /// another file cannot be substituted for the device.
    package static func open(device: UInt64, ownedBy user: uid_t) -> Terminal? {
        guard let path = path(of: device), let descriptor = try? Descriptor.open(path, O_RDWR | O_NOCTTY | O_NOFOLLOW)
        else { return nil }
        return Terminal(descriptor, device: device, ownedBy: user)
    }

    /// Wraps an open descriptor; nil unless it is the terminal with that device number and belongs to `user`.
    init?(_ descriptor: Descriptor, device: UInt64, ownedBy user: uid_t) {
        guard let status = try? descriptor.status(), status.owner == user, status.device == device,
            isatty(descriptor.number) == 1
        else { return nil }
        self.init(descriptor)
    }

    /// The path of the terminal with that device number; nil for a number that is not one of a terminal.
    package static func path(of device: UInt64) -> String? {
        let major = latchkey_major(dev_t(device))
        let minor = latchkey_minor(dev_t(device))
        return switch major {
        case 136...143: "/dev/pts/\((major - 136) * 256 + minor)"
        case 4 where minor < 64: "/dev/tty\(minor)"
        case 4: "/dev/ttyS\(minor - 64)"
        default: nil
        }
    }

    /// Whether the terminal with device number `device` belongs to `user`; throws if there is none. Does not open it.
    package static func exists(device: UInt64, ownedBy user: uid_t, _ calls: SystemCalls) throws(SystemError) -> Bool {
        guard let path = path(of: device) else { return false }
        return isDevice(try calls.status(at: path), device, ownedBy: user)
    }

    /// Whether a status is that of the device with this number, and the device belongs to `user`.
    static func isDevice(_ status: FileRecord, _ device: UInt64, ownedBy user: uid_t) -> Bool {
        status.isType(S_IFCHR) && status.owner == user && status.device == device
    }

    /// The device number of a process's controlling terminal; 0 when it has none.
    package static func controlling(_ process: pid_t) -> UInt64 { TerminalJob(process)?.terminal ?? 0 }

    /// The current modes (tcgetattr(3)).
    package func modes() -> termios? {
        var modes = termios()
        return tcgetattr(descriptor.number, &modes) == 0 ? modes : nil
    }

    /// Whether the terminal is in non-canonical mode: a program reads single keys, not lines.
    package var isReadingKeys: Bool { modes().map { $0.c_lflag & tcflag_t(ICANON) == 0 } ?? false }

    /// Whether the terminal reports UTF-8 input (IUTF8).
    package var isUTF8: Bool { modes().map { $0.c_iflag & tcflag_t(IUTF8) != 0 } ?? false }

    /// Whether the modes are still those set by `readKeys(from:)`; false once another program has changed them.
    package func isReadingKeys(from modes: termios) -> Bool {
        guard let now = self.modes() else { return false }
        let wanted = Terminal.raw(modes)
        return now.c_lflag == wanted.c_lflag && now.c_iflag == wanted.c_iflag
    }

    /// Restores the modes, after pending output has been written.
    package func restore(_ modes: termios) {
        var modes = modes
        while tcsetattr(descriptor.number, TCSADRAIN, &modes) != 0, errno == EINTR {}
    }

    /// Restores the modes at once, even if the terminal is stopped and pending output cannot be written.
    package func restoreNow(_ modes: termios) {
        var modes = modes
        while tcsetattr(descriptor.number, TCSANOW, &modes) != 0, errno == EINTR {}
    }

    /// Makes writing fail instead of waiting for a stopped terminal, for every process that shares this descriptor.
    package func neverBlock() {
        // An error leaves it as it is; the process that started this one ends it after a time.
        _ = fcntl(descriptor.number, F_SETFL, O_RDWR | O_NONBLOCK)
    }

    /// Switches to single keys without echo and without signals from keys, and discards pending input.
    package func readKeys(from modes: termios) {
        var raw = Terminal.raw(modes)
        while tcsetattr(descriptor.number, TCSAFLUSH, &raw) != 0, errno == EINTR {}
    }

    private static func raw(_ modes: termios) -> termios {
        var raw = modes
        raw.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
        raw.c_iflag &= ~tcflag_t(ICRNL | IXON | ISTRIP | INLCR | IGNCR)
        withUnsafeMutableBytes(of: &raw.c_cc) {
            $0[Int(VMIN)] = 1
            $0[Int(VTIME)] = 0
        }
        return raw
    }

    /// Writes a text; errors are ignored, as when the terminal has hung up.
    package func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in try? descriptor.write(all: UnsafeRawBufferPointer(bytes)) }
    }

    /// Columns and rows of the window; 0 where they are unknown.
    package var window: (columns: Int, rows: Int) {
        var rows: UInt16 = 0
        var columns: UInt16 = 0
        guard latchkey_window_size(descriptor.number, &rows, &columns) == 0 else { return (0, 0) }
        return (Int(columns), Int(rows))
    }
}

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
