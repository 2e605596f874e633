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

    /// The path of the shared library that this code was linked into; nil in a program that has it in itself.
    package static var library: String? {
        var found = latchkey_symbol()
        guard latchkey_dladdr(#dsohandle, &found) != 0, let name = found.file else { return nil }
        let path = String(cString: name)
        return path.hasPrefix("/") && path.hasSuffix(".so") ? path : nil
    }

    /// Where a symbolic link points.
    package static func linkTarget(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink(path, &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(validating: buffer[..<count], as: UTF8.self)
    }

    /// Bytes of another process's environment that are looked at.
    private static let searchedBytes = 256 << 10
    /// Bytes of a value that is taken over.
    private static let valueBytes = 64

    /// Variables of another process as it was started with them, as `NAME=value`.
    ///
    /// What is not short and printable ASCII is left out; so is everything when the kernel does not let this process
    /// look, as with a program that runs with more rights than its caller (abuse case 8). A process may set these
    /// variables as it likes: nothing that matters may depend on them.
    package static func entries(of process: Int32, _ names: [String]) -> [String] {
        guard let file = try? Descriptor.open("/proc/\(process)/environ", O_RDONLY) else { return [] }
        var bytes = [UInt8](repeating: 0, count: searchedBytes)
        var count = 0
        while count < bytes.count {
            let step = (try? bytes.withUnsafeMutableBytes { try file.read(into: .init(rebasing: $0[count...])) }) ?? 0
            if step == 0 { break }
            count += step
        }
        // An entry that was cut off says nothing.
        let end = bytes[..<count].lastIndex(of: 0) ?? 0
        let entries = bytes[..<end].split(separator: 0)
        return names.compactMap { name in
            let start = Array("\(name)=".utf8)
            guard let entry = entries.first(where: { $0.starts(with: start) }), entry.count <= start.count + valueBytes,
                entry.allSatisfy({ (0x20...0x7e).contains($0) })
            else { return nil }
            return String(decoding: entry, as: UTF8.self)
        }
    }
}
