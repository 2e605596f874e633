// SPDX-License-Identifier: Apache-2.0

/// The process of a caller, looked at again.
package protocol CallerProcess: Sendable {
    /// Whether it is still the process that was let in, executing the same file; false where that is not known.
    var isUnchanged: Bool { get }
}

/// Who calls, as the kernel and the tier's rules say.
package struct Caller: Sendable {
    /// What the audit trail and the prompt call a program that cannot be determined.
    package static let undetermined = "A program that could not be determined"

    /// The access groups it may use; the first is where its new items go.
    package var groups: [String]
    /// The app it is, which decides what it was told about faces and which hashes it sees: the name it gave itself, where
    /// that is believed.
    package var application: String
    /// What the audit trail and the prompt call it.
    package var label: String
    /// Where its program is, as the kernel knows it; empty when it does not.
    package var program: String
    package var processID: Int32
    package var userID: UInt32
    /// Its session, so that nothing that was proven in one is taken in another; 0 before a session has begun.
    package var session: UInt64
    private let process: (any CallerProcess)?

    /// Makes a caller.
    ///
    /// - Parameter process: what tells whether the process has changed; nil where it is this one.
    package init(
        groups: [String], label: String, program: String = "", processID: Int32, userID: UInt32, session: UInt64 = 0,
        process: (any CallerProcess)? = nil
    ) {
        self.groups = groups
        application = groups.first ?? label
        self.label = label
        self.program = program
        self.processID = processID
        self.userID = userID
        self.session = session
        self.process = process
    }

    /// No caller. It has no group, so the keychain refuses it everything.
    package static let none = Caller(groups: [], label: "", processID: 0, userID: .max)

    /// The caller as it may be named now, for prompts and the audit trail; proofs belong to the caller itself. Stops a
    /// process that has executed another program, or handed its connection on, from being named as the program that
    /// connected.
    package var current: Caller {
        guard let process, !process.isUnchanged else { return self }
        var caller = self
        caller.label = Caller.undetermined
        caller.program = "its program could not be determined"
        return caller
    }
}

/// What looks at the process again says nothing more of who it is.
extension Caller: Hashable {
    package static func == (left: Caller, right: Caller) -> Bool {
        left.groups == right.groups && left.application == right.application && left.label == right.label
            && left.program == right.program
            && left.processID == right.processID && left.userID == right.userID && left.session == right.session
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(groups)
        hasher.combine(application)
        hasher.combine(label)
        hasher.combine(program)
        hasher.combine(processID)
        hasher.combine(userID)
        hasher.combine(session)
    }
}
