// SPDX-License-Identifier: Apache-2.0

/// Who calls, as the kernel and the tier's rules say.
package struct Caller: Hashable, Sendable {
    /// The access groups it may use; the first is its own.
    package var groups: [String]
    /// What the audit trail and the prompt call it.
    package var label: String
    /// Where its program is, as the kernel knows it; empty when it does not.
    package var program: String
    package var processID: Int32
    package var userID: UInt32
    /// Its session, so that nothing that was proven in one is taken in another; 0 before a session has begun.
    package var session: UInt64

    /// Makes a caller.
    package init(
        groups: [String], label: String, program: String = "", processID: Int32, userID: UInt32, session: UInt64 = 0
    ) {
        self.groups = groups
        self.label = label
        self.program = program
        self.processID = processID
        self.userID = userID
        self.session = session
    }

    /// No caller. It has no group, so the keychain refuses it everything.
    package static let none = Caller(groups: [], label: "", processID: 0, userID: .max)
}
