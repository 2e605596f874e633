// SPDX-License-Identifier: Apache-2.0

/// Who calls, as the kernel and the tier's rules say.
package struct Caller: Equatable, Sendable {
    /// The access groups it may use; the first is its own.
    package var groups: [String]
    /// What the audit trail and the prompt call it.
    package var label: String
    /// Where its program is, as the kernel knows it; empty when it does not.
    package var program: String
    package var processID: Int32
    package var userID: UInt32

    /// Makes a caller.
    package init(groups: [String], label: String, program: String = "", processID: Int32, userID: UInt32) {
        self.groups = groups
        self.label = label
        self.program = program
        self.processID = processID
        self.userID = userID
    }
}
