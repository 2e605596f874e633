// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The mounts of this process's mount namespace, by the identifier that `FileStatus` reports
/// (`/proc/PID/mountinfo`, proc(5)).
package struct MountTable: Sendable {
    /// Maximum bytes read of the table.
    private static let byteLimit = 4 << 20

    /// One mount.
    package struct Mount: Equatable, Sendable {
        /// The type of the file system, for example `ext4` or `fuse.sshfs`.
        package let fileSystem: String
        /// Whether the mount ignores set-user-ID bits: the owners of its files are not to be trusted.
        package let ignoresOwners: Bool

        package init(fileSystem: String, ignoresOwners: Bool = false) {
            self.fileSystem = fileSystem
            self.ignoresOwners = ignoresOwners
        }
    }

    private let mounts: [UInt64: Mount]

    /// Reads the table of this process.
    package init() throws(SystemError) {
        self.init(try Descriptor.open("/proc/self/mountinfo", O_RDONLY).readAll(limit: Self.byteLimit))
    }

    /// Parses the table; malformed lines are left out, so that their mounts are unknown.
    package init(_ bytes: [UInt8]) {
        var mounts: [UInt64: Mount] = [:]
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            // The kernel writes a space within a field as \040.
            let fields = line.split(separator: UInt8(ascii: " "))
            guard fields.count > 8, let identifier = UInt64(String(decoding: fields[0], as: UTF8.self)),
                let separator = fields[6...].firstIndex(where: { $0.elementsEqual("-".utf8) }),
                separator + 1 < fields.count
            else { continue }
            mounts[identifier] = Mount(
                fileSystem: String(decoding: fields[separator + 1], as: UTF8.self),
                ignoresOwners: fields[5].split(separator: UInt8(ascii: ",")).contains {
                    $0.elementsEqual("nosuid".utf8)
                })
        }
        self.mounts = mounts
    }

    /// The mount with this identifier; nil when it is in another mount namespace.
    package subscript(identifier: UInt64) -> Mount? { mounts[identifier] }
}
