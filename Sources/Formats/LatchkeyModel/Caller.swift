// SPDX-License-Identifier: Apache-2.0

/// The process of a caller, which can be verified again later.
package protocol CallerProcess: Sendable {
    /// Whether it is still the process that connected, executing the same file; false if that cannot be determined.
    var isUnchanged: Bool { get }
}

/// The identity of a client, from the kernel's peer credentials and the rules of the tier.
package struct Caller: Sendable {
    /// The label, in the audit log and in prompts, of a program that cannot be determined.
    package static let undetermined = "A program that could not be determined"

    /// The access groups that the caller may use; new items are added to the first by default.
    package var groups: [String]
    /// The app that face permissions and domain state hashes belong to: the name the caller gave itself in tiers that
    /// accept it, otherwise the first access group, or the label if there is no group.
    package var application: String
    /// Whether `application` is a name that the caller gave itself.
    package var isSelfNamed = false
    /// The name of the caller in the audit log and in prompts.
    package var label: String
    /// The path of the executable as the kernel reports it; empty if it reports none.
    package var program: String
    package var processID: Int32
    package var userID: UInt32
    /// The number of the session, so that a proof of one session is not accepted in another; 0 before the session
    /// begins.
    package var session: UInt64
    /// The process ID with the start time; the start time is 0 if the caller is in this process.
    package var processName: ProcessName
    /// The terminal of the process, as the kernel reports it; 0 if it has none.
    package var terminal: UInt64 = 0
    /// The login session of the process, as `latchkey-authd` determined it; empty if it has none, or if nothing has
    /// determined it.
    package var loginSession = ""
    /// The names of the programs that started it, for its prompts; empty if they are not shown.
    package var startedBy = ""
    /// What its sandbox says that the program is, for its prompts; nil if it says nothing.
    package var sandbox: SandboxedApp?
    private var process: (any CallerProcess)?

    /// Creates a caller; `application` is the first group, or the label if there is no group.
    ///
    /// - Parameter process: verifies that the process has not changed; nil if the caller is in this process.
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
        processName = ProcessName(processID: processID, startTime: 0, userID: userID)
    }

    /// A placeholder without access groups, to which the keychain refuses every access.
    package static let none = Caller(groups: [], label: "", processID: 0, userID: .max)

    /// The app whose face permission applies: the caller, if it has a face usage description. An empty one counts as
    /// none, as on Apple systems.
    package func faceUser(_ faceUsage: String?) -> String? { faceUsage?.isEmpty == false ? application : nil }

    /// The name that the caller gave itself, or that its sandbox gives it; empty if there is none, and for a name that it gave
    /// itself and that is its label.
    package var ownName: String { isSelfNamed && application != label ? application : sandbox?.label ?? "" }

    /// Whether the process that asked still executes the same program; true if nothing verifies that.
    package var isCurrent: Bool { process?.isUnchanged ?? true }

    /// The caller under the name that prompts and the audit log may show now.
    ///
    /// Prevents a process that executed another program, or passed its connection to another process, from being shown
    /// as the program that connected. Proofs are compared with the original caller, not with this value.
    package var current: Caller {
        guard !isCurrent else { return self }
        var caller = self
        caller.label = Caller.undetermined
        caller.program = "its program could not be determined"
        return caller
    }

    /// `current` for later: its name is not verified any more, since the process may have ended then.
    package var named: Caller {
        var caller = current
        caller.process = nil
        return caller
    }
}

// Equality and hash ignore `process` and `processName`, which only verify the other fields, and `loginSession` and
// `terminal`, which a process has in addition to them.
extension Caller: Hashable {
    package static func == (left: Caller, right: Caller) -> Bool {
        left.groups.elementsEqual(right.groups) { $0.hasBytes(of: $1) }
            && left.application.hasBytes(of: right.application) && left.label.hasBytes(of: right.label)
            && left.program.hasBytes(of: right.program)
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
