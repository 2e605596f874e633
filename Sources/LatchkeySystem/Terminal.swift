// SPDX-License-Identifier: Apache-2.0

package import CLatchkeyLinux
import Glibc

/// A terminal and its modes.
package struct Terminal: Sendable {
    /// The terminal.
    package let descriptor: Descriptor

    /// Takes an open terminal.
    package init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// Opens the terminal with device number `device`, if there is one and it belongs to `user`.
    ///
    /// The number comes from the kernel's record of a process; owner and number are compared after opening, so that
    /// no other file can be put in its place.
    package static func open(device: UInt64, ownedBy user: uid_t) -> Terminal? {
        let major = latchkey_major(dev_t(device))
        let minor = latchkey_minor(dev_t(device))
        let path: String
        switch major {
        case 136...143: path = "/dev/pts/\((major - 136) * 256 + minor)"
        case 4 where minor < 64: path = "/dev/tty\(minor)"
        case 4: path = "/dev/ttyS\(minor - 64)"
        default: return nil
        }
        guard let descriptor = try? Descriptor.open(path, O_RDWR | O_NOCTTY | O_NOFOLLOW),
            let status = try? descriptor.status(), status.st_uid == user, status.st_rdev == dev_t(device),
            isatty(descriptor.number) == 1
        else { return nil }
        return Terminal(descriptor)
    }

    /// The device number of a process's controlling terminal; 0 when it has none.
    package static func controlling(_ process: pid_t) -> UInt64 {
        guard let bytes = try? Descriptor.open("/proc/\(process)/stat", O_RDONLY) else { return 0 }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(bytes.number, &buffer, buffer.count)
        guard count > 0, let text = String(validating: buffer[..<count], as: UTF8.self),
            // The name of the program is in parentheses and may hold anything, so fields count from the last one.
            let end = text.lastIndex(of: ")")
        else { return 0 }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 4, let device = Int32(fields[4]) else { return 0 }
        return UInt64(UInt32(bitPattern: device))
    }

    /// The modes as they are.
    package func modes() -> termios? {
        var modes = termios()
        return tcgetattr(descriptor.number, &modes) == 0 ? modes : nil
    }

    /// Puts modes back.
    package func restore(_ modes: termios) {
        var modes = modes
        while tcsetattr(descriptor.number, TCSADRAIN, &modes) != 0, errno == EINTR {}
    }

    /// Takes single keys without showing them, signals included, and drops what was typed before.
    package func readKeys(from modes: termios) {
        var raw = modes
        raw.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
        raw.c_iflag &= ~tcflag_t(ICRNL | IXON | ISTRIP | INLCR | IGNCR)
        withUnsafeMutableBytes(of: &raw.c_cc) {
            $0[Int(VMIN)] = 1
            $0[Int(VTIME)] = 0
        }
        while tcsetattr(descriptor.number, TCSAFLUSH, &raw) != 0, errno == EINTR {}
    }

    /// Takes lines without showing them.
    package func hideTyping(from modes: termios) {
        var hidden = modes
        hidden.c_lflag &= ~tcflag_t(ECHO)
        hidden.c_lflag |= tcflag_t(ECHONL)
        while tcsetattr(descriptor.number, TCSAFLUSH, &hidden) != 0, errno == EINTR {}
    }

    /// Columns of the window; 80 when the terminal does not know.
    package var columns: Int {
        var rows: UInt16 = 0
        var columns: UInt16 = 0
        guard latchkey_window_size(descriptor.number, &rows, &columns) == 0, columns > 0 else { return 80 }
        return Int(columns)
    }
}
