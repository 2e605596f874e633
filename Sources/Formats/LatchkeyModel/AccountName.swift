// SPDX-License-Identifier: Apache-2.0

/// The name of a user account, which distinguishes an account from a later one with the same user number.
package struct AccountName: Equatable, Sendable {
    /// Maximum bytes of a name in UTF-8 (`LOGIN_NAME_MAX` of Linux).
    package static let bytes = 256

    package let text: String

    /// Creates a name; nil if it is empty or too long.
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= Self.bytes else { return nil }
        self.text = text
    }

    /// Compares bytes: two names that Unicode considers equivalent are different accounts.
    package static func == (left: AccountName, right: AccountName) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }
}

extension Failure {
    /// Returns the failure for data that was stored for an account which had the same user number.
    ///
    /// - Parameters:
    ///   - what: completes "… of user 1000", such as "The keychain".
    ///   - stored: the account for which the data was stored.
    ///   - current: the account that has the number now.
    package static func storeOfEarlierAccount(
        _ what: String, _ userID: UInt32, stored: AccountName, current: AccountName,
        file: String = #fileID, line: UInt = #line
    ) -> Failure {
        Failure(
            .storeOfEarlierAccount,
            "\(what) of user \(userID) belongs to the earlier account \(stored.text), and the account is now "
                + "\(current.text).",
            hint:
                "If \(stored.text) was renamed, rename the account back. To begin with an empty keychain, an "
                + "administrator runs: latchkey admin remove-user \(userID)",
            file: file, line: line)
    }
}
