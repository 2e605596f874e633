// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The result of verifying the password of an account through the system.
package enum AccountVerdict: Equatable, Sendable {
    /// The password is right and the account may be used. `mustChange` if the system demands a new password.
    case right(mustChange: Bool)
    case wrong
    /// The account may not be used, whatever its password is: it has expired, for example.
    case refused(Failure)
    /// The system cannot verify passwords now, and said so itself. No try.
    case notAvailable(Failure)
    /// Nothing was verified: a module failed, asked for something else, or did not answer in time.
    case failed(Failure)
}

/// The role that verifies the passwords of accounts on this system.
package protocol AccountPasswords: AnyObject, Sendable {
    /// Whether the account has a password that this system verifies itself. Blocks.
    ///
    /// - Throws: if that cannot be determined; nothing may depend on the absence of a password then.
    func hasPassword(_ account: AccountName) throws(Failure) -> Bool
    /// Verifies a password; at most one of each account at a time.
    ///
    /// - Parameters:
    ///   - show: called with each message for the user, on any thread, before `completion`.
    ///   - completion: called exactly once, on any thread, at the latest when the driver's deadline has passed.
    func verify(
        _ password: SecretBytes, of account: AccountName, show: @escaping @Sendable (String) -> Void,
        completion: @escaping @Sendable (AccountVerdict) -> Void)
}

/// The account of a user, as the authority of this user needs it.
package struct UserAccount: Sendable {
    package var name: AccountName
    package var passwords: any AccountPasswords
    /// What a first passcode is, where the account has a password.
    package var firstPasscode: PasscodeKind

    package init(name: AccountName, passwords: any AccountPasswords, firstPasscode: PasscodeKind) {
        (self.name, self.passwords, self.firstPasscode) = (name, passwords, firstPasscode)
    }
}
