// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem

/// The password hashes of the accounts of this system (shadow(5)).
enum ShadowFile {
    private static let byteLimit = 64 << 20

    /// Whether the account has a password of this system. Accounts of LDAP or homed have no line in the file.
    static func hasPassword(_ account: AccountName, in path: String) throws(Failure) -> Bool {
        let bytes: SecretBytes?
        do throws(SystemError) {
            bytes = try Files.read(path, limit: byteLimit)
        } catch {
            throw Failure(error, "\(path) cannot be read, so it is unknown whether the account has a password")
        }
        guard let bytes else {
            throw Failure(
                .notPermitted, "\(path) is missing, so it is unknown whether the account has a password.",
                hint: "An administrator restores it, such as from /etc/shadow-, or makes it from "
                    + "/etc/passwd with: pwconv")
        }
        let name = Array(account.text.utf8)
        return bytes.withBytes { bytes in
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                let fields = line.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
                guard fields.count == 3, fields[0].elementsEqual(name) else { continue }
                return isHash(fields[1])
            }
            return false
        }
    }

    /// crypt(5): no hash begins with `!` or `*`, with which an account is locked; an empty field is no password.
    private static func isHash(_ field: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard let first = field.first else { return false }
        return first != UInt8(ascii: "!") && first != UInt8(ascii: "*")
    }
}
