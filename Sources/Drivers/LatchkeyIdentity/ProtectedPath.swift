// SPDX-License-Identifier: Apache-2.0

package import LatchkeySystem

/// Which files only root can have put where they are.
package enum ProtectedPath {
    /// File systems of the machine itself, whose owners and modes only its own root sets.
    ///
    /// Everything else is left out, known or not: FUSE and its relatives (a process of the user answers for the files),
    /// network file systems (another machine does), and the formats of exchangeable media, which record no owner.
    private static let fileSystems: Set<String> = [
        "bcachefs", "btrfs", "erofs", "ext2", "ext3", "ext4", "f2fs", "jfs", "nilfs2", "overlay", "ramfs", "reiserfs",
        "rootfs", "squashfs", "tmpfs", "ubifs", "xfs", "zfs",
    ]

    /// Whether only root can change a folder or a regular file.
    ///
    /// A mount with `nosuid` is not trusted: desktops mount the media of users so, and the owners of their files are
    /// those that another machine wrote.
    package static func isProtected(_ component: PathWalk.Component) -> Bool {
        guard let mount = component.mount, fileSystems.contains(mount.fileSystem), !mount.ignoresOwners else {
            return false
        }
        return belongsToRoot(component)
    }

    /// Whether only root can change a folder or a regular file, if its file system and its mount can be trusted.
    package static func belongsToRoot(_ component: PathWalk.Component) -> Bool {
        // A sticky folder such as /tmp is writable by others, too.
        return component.status.owner == 0 && component.status.mode & 0o022 == 0 && component.status.links > 0
            && component.status.kind != .other
    }

    /// Whether a path leads through folders that only root can change to a regular file that only root can change.
    ///
    /// - Parameter isAllowed: the rule for each component.
    package static func isProtected(
        _ components: [PathWalk.Component], by isAllowed: (PathWalk.Component) -> Bool = isProtected
    ) -> Bool {
        components.count > 1 && components.allSatisfy(isAllowed)
            && components.dropLast().allSatisfy { $0.status.kind == .folder }
            && components.last?.status.kind == .regularFile
    }
}
