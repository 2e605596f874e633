// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The user database of the system (getpwnam_r(3)).
package enum Accounts {
    /// Returns the user with that name; nil if there is none.
    package static func user(named name: String) -> UserIdentity? { find { getpwnam_r(name, $0, $1, $2, $3) } }

    /// Returns the user with that number; nil if there is none.
    package static func user(numbered number: UInt32) -> UserIdentity? { find { getpwuid_r(number, $0, $1, $2, $3) } }

    private static func find(
        _ search: (
            UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
        ) -> CInt
    ) -> UserIdentity? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 64 << 10)
        let code = buffer.withUnsafeMutableBufferPointer { buffer -> CInt in
            guard let memory = buffer.baseAddress else { return ENOMEM }
            return search(&entry, memory, buffer.count, &found)
        }
        guard code == 0, found != nil else { return nil }
        return UserIdentity(userID: entry.pw_uid, groupID: entry.pw_gid)
    }
}
