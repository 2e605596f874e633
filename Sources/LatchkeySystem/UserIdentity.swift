// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The user and the group as which a program runs.
package struct UserIdentity: Equatable, Sendable {
    package let userID: uid_t
    package let groupID: gid_t

    /// Creates an identity from its numbers.
    package init(userID: uid_t, groupID: gid_t) {
        self.userID = userID
        self.groupID = groupID
    }
}
