// SPDX-License-Identifier: Apache-2.0

/// The user IDs (`uid_t`) that stand for users without an ID in this user namespace, and so for no particular user.
package enum UnmappedUser {
    /// The overflow user, which the kernel reports for such users unless `kernel.overflowuid` is changed. Source:
    /// user_namespaces(7).
    private static let overflow: UInt32 = 65_534

    /// Whether the ID is the overflow user or -1, which no process has.
    package static func includes(_ userID: UInt32) -> Bool { userID == overflow || userID == .max }
}
