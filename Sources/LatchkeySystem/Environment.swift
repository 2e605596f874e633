// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// The environment of this process.
package enum Environment {
    /// A variable; nil when it is unset or empty, and always nil in a program that runs with more rights than its
    /// caller (abuse case 8).
    package static func value(_ name: String) -> String? {
        guard latchkey_runs_privileged() == 0, let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// The user's home folder, from `HOME` or the user database; nil when there is none.
    package static var home: String? {
        if let home = value("HOME"), home.hasPrefix("/") { return home }
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        guard getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &found) == 0, found != nil,
            let folder = entry.pw_dir
        else { return nil }
        let path = String(cString: folder)
        return path.hasPrefix("/") && path != "/nonexistent" ? path : nil
    }

    /// The path of the running program.
    package static var executable: String? { linkTarget("/proc/self/exe") }

    /// Where a symbolic link points.
    package static func linkTarget(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink(path, &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(validating: buffer[..<count], as: UTF8.self)
    }
}
