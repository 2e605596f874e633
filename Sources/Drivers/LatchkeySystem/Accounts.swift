// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel

/// The user database of the system (getpwnam_r(3)).
package enum Accounts {
    /// Returns the user with that name; nil if there is none or the database cannot be read.
    package static func user(named name: String) -> UserIdentity? {
        // Callers refuse both cases in the same way.
        try? find { getpwnam_r(name, $0, $1, $2, $3) }?.user
    }

    /// Returns the user with that number; nil if there is none or the database cannot be read.
    package static func user(numbered number: UInt32) -> UserIdentity? {
        // As above.
        try? find { getpwuid_r(number, $0, $1, $2, $3) }?.user
    }

    /// Returns the name of the account with that number. Blocks while a server of accounts is asked.
    ///
    /// - Throws: `peerNotTrusted` if there is no account, or if the database cannot be read: which account has the
    ///   number is unknown then, and nothing of it may be opened or removed.
    package static func name(of number: UInt32) throws(Failure) -> AccountName {
        let hint: Phrase = "See: getent passwd \(number)"
        let found: (user: UserIdentity, name: AccountName?)?
        do throws(SystemError) {
            found = try find { getpwuid_r(number, $0, $1, $2, $3) }
        } catch {
            throw Failure(
                .peerNotTrusted, "The user database cannot be read: \(error.description).", hint: hint, cause: error)
        }
        guard let name = found?.name else {
            throw Failure(.peerNotTrusted, "User \(number) has no account on this system.", hint: hint)
        }
        return name
    }

    /// - Returns: the entry; its name is nil if it is empty, too long or not UTF-8.
    private static func find(
        _ search: (
            UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
        ) -> CInt
    ) throws(SystemError) -> (user: UserIdentity, name: AccountName?)? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 64 << 10)
        var name: AccountName?
        let code = buffer.withUnsafeMutableBufferPointer { buffer -> CInt in
            guard let memory = buffer.baseAddress else { return ENOMEM }
            let code = search(&entry, memory, buffer.count, &found)
            // The name is in the buffer.
            if code == 0, found != nil { name = String(validatingCString: entry.pw_name).flatMap { AccountName($0) } }
            return code
        }
        switch code {
        case 0: return found == nil ? nil : (UserIdentity(userID: entry.pw_uid, groupID: entry.pw_gid), name)
        // getpwnam_r(3): some implementations return these for an entry that does not exist.
        case ENOENT, ESRCH: return nil
        default: throw SystemError("getpwuid_r", code: code)
        }
    }
}
