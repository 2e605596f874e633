// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc
package import LatchkeyModel

/// The environment of this process.
package enum Environment {
    /// The value of a variable; nil when it is unset, empty, or not UTF-8. Always nil in a program that runs with more
    /// privileges than its caller (abuse case 8).
    package static func value(_ name: String) -> String? { cString(name).flatMap { String(validatingCString: $0) } }

    /// Throws `noHome` if a variable is set to bytes that are not UTF-8. A repaired value could name another folder or
    /// group, and without the value the default one would be used.
    package static func requireText(_ name: String) throws(Failure) {
        guard cString(name) != nil, value(name) == nil else { return }
        throw Failure(.noHome, "\(name) is not valid UTF-8.", hint: "Set it to a value in UTF-8, or unset it.")
    }

    private static func cString(_ name: String) -> UnsafeMutablePointer<CChar>? {
        guard latchkey_runs_privileged() == 0, let value = getenv(name), value.pointee != 0 else { return nil }
        return value
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
        // Repaired, it would be the folder of somebody else.
        guard let path = String(validatingCString: folder) else { return nil }
        return path.hasPrefix("/") && path != "/nonexistent" ? path : nil
    }

    /// The path of the running program.
    package static var executable: String? { linkTarget("/proc/self/exe") }

    /// The path of the shared library that contains this code; nil when it is linked statically into the program.
    package static var library: String? {
        var found = latchkey_symbol()
        guard latchkey_dladdr(#dsohandle, &found) != 0, let name = found.file else { return nil }
        guard let path = String(validatingCString: name) else { return nil }
        return path.hasPrefix("/") && path.hasSuffix(".so") ? path : nil
    }

    /// The target of a symbolic link; nil when it cannot be read or exceeds 4095 bytes.
    package static func linkTarget(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink(path, &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(validating: buffer[..<count], as: UTF8.self)
    }

    /// Maximum number of bytes read of another process's environment.
    private static let searchedBytes = 256 << 10
    /// Maximum length of a returned value, in bytes.
    private static let valueBytes = 64

    /// Reads variables from the initial environment of another process, as `NAME=value`.
    ///
    /// Omits values that are longer than 64 bytes or not printable ASCII. Returns nothing when the kernel denies
    /// access, as for a program that runs with more privileges than its caller (abuse case 8). The process controls
    /// these values, so no security decision may depend on them.
    package static func entries(of process: Int32, _ names: [String]) -> [String] {
        var found: [String: String] = [:]
        let starts = names.map { ($0, Array("\($0)=".utf8)) }
        // An entry as far as it can count, without its zero byte. The process chooses the number of entries, so they are
        // not collected.
        var entry: [UInt8] = []
        let longest = (starts.map(\.1.count).max() ?? 0) + valueBytes
        var isRead = false
        // Without access, or for a larger environment, a prompt uses its own settings.
        if let folder = try? ProcessFolder(process), let owner = try? folder.userIDs().first {
            isRead =
                (try? folder.scan("environ", as: owner, limit: searchedBytes, until: Uptime.deadline(seconds: 1)) {
                    for byte in $0 {
                        if byte != 0 {
                            if entry.count <= longest { entry.append(byte) }
                            continue
                        }
                        if let (name, start) = starts.first(where: { entry.starts(with: $0.1) }), found[name] == nil {
                            let isValid =
                                entry.count <= start.count + valueBytes
                                && entry.allSatisfy { (0x20...0x7e).contains($0) }
                            found[name] = isValid ? String(decoding: entry, as: UTF8.self) : ""
                        }
                        entry.removeAll(keepingCapacity: true)
                    }
                    return true
                }) != nil
        }
        guard isRead else { return [] }
        return names.compactMap { found[$0].flatMap { $0.isEmpty ? nil : $0 } }
    }
}
