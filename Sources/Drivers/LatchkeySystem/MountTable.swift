// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The mounts of this process's mount namespace, by the identifier that `FileStatus` reports
/// (`/proc/PID/mountinfo`, proc(5)).
package struct MountTable: Sendable {
    /// Maximum bytes read of the table; more than the mounts of a user can take (1000 with fusermount).
    private static let byteLimit = 64 << 20

    /// One mount.
    package struct Mount: Equatable, Sendable {
        /// The type of the file system, for example `ext4` or `fuse.sshfs`.
        package let fileSystem: String
        /// Whether the mount ignores set-user-ID bits: the owners of its files are not to be trusted.
        package var ignoresOwners = false
    }

    /// The table as the kernel wrote it. Users can add thousands of mounts of which no path is asked for, so lines are parsed
    /// only when they are looked up.
    private let bytes: [UInt8]

    /// Reads the table of this process.
    package init(_ calls: SystemCalls = .kernel) throws(SystemError) {
        let path = "/proc/self/mountinfo"
        self.init(try calls.readAll(calls.open(path, O_RDONLY), path, limit: Self.byteLimit))
    }

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The mount with this identifier; nil when it is in another mount namespace, or if its line is malformed.
    package subscript(identifier: UInt64) -> Mount? {
        let start = Array("\(identifier) ".utf8)
        var line = bytes.startIndex
        while line < bytes.endIndex {
            let end = Self.end(ofLine: line, bytes)
            if bytes[line..<end].starts(with: start) { return Self.mount(bytes[line..<end]) }
            line = end + 1
        }
        return nil
    }

    private static func end(ofLine start: Int, _ bytes: [UInt8]) -> Int {
        bytes.withUnsafeBytes { memory in
            guard let base = memory.baseAddress, let end = memchr(base + start, 0x0a, memory.count - start) else {
                return memory.count
            }
            return UnsafeRawPointer(end) - base
        }
    }

    private static func mount(_ line: ArraySlice<UInt8>) -> Mount? {
        // The kernel writes a space within a field as \040.
        let fields = line.split(separator: UInt8(ascii: " "))
        guard fields.count > 8, let separator = fields[6...].firstIndex(where: { $0.elementsEqual("-".utf8) }),
            separator + 1 < fields.count
        else { return nil }
        return Mount(
            fileSystem: String(decoding: fields[separator + 1], as: UTF8.self),
            ignoresOwners: fields[5].split(separator: UInt8(ascii: ",")).contains { $0.elementsEqual("nosuid".utf8) })
    }
}
