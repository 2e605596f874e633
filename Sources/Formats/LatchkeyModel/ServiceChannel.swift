// SPDX-License-Identifier: Apache-2.0

// The messages between `latchkeyd` and `latchkey-authd` (docs/reference/services.md). Each side calls the other; every
// call has one reply.

/// Identifies a process for the lifetime of the machine: a process ID is reused, the pair with the start time is not.
package struct ProcessName: Hashable, Sendable {
    package var processID: Int32
    /// Clock ticks since boot: field 22 of `/proc/PID/stat`.
    package var startTime: UInt64
    /// The user ID that the kernel reported for the connection.
    package var userID: UInt32

    package init(processID: Int32, startTime: UInt64, userID: UInt32) {
        (self.processID, self.startTime, self.userID) = (processID, startTime, userID)
    }
}

/// A call from `latchkeyd` to `latchkey-authd`.
package enum AuthorityCall: Equatable, Sendable {
    /// Who a process is. Reply: `identity`.
    case identify(ProcessName)
    /// Starts the authority of a user. Reply: `done`, after the first `state`.
    case attach(Attach)
    /// Authenticates the user at a prompt. Reply: `granted` or `failure`, when the evaluation ends.
    case evaluate(AuthenticationRequest)
    /// Ends an evaluation, named by the number of its call. Reply: `done`.
    case withdraw(Withdraw)
    /// Reports a change of the device or of the passcode. Reply: `done`, when it has been processed.
    case change(Change)
    /// Sets or deletes a face permission. Reply: `done`, when it is durable.
    case setFacePermission(SetFacePermission)
    /// What binds a new key of a TPM to the authority. Reply: `keyBinding` or `failure`.
    case bindKey(BindKey)
    /// Approves one use of a key of a TPM. Reply: `approved` or `failure`.
    case approve(Approve)

    package struct Attach: Equatable, Sendable {
        package var userID: UInt32
        package var isPasscodeSet: Bool
        package var isLocked: Bool
        /// The records of the recovery codes that latchkey-authd has had stored; empty for none.
        package var recoveryCopy: [UInt8]

        package init(userID: UInt32, isPasscodeSet: Bool, isLocked: Bool, recoveryCopy: [UInt8] = []) {
            self.userID = userID
            self.isPasscodeSet = isPasscodeSet
            self.isLocked = isLocked
            self.recoveryCopy = recoveryCopy
        }
    }

    package struct Withdraw: Equatable, Sendable {
        /// The number of the `evaluate` call.
        package var evaluation: UInt64
        package var status: Status

        package init(evaluation: UInt64, status: Status) { (self.evaluation, self.status) = (evaluation, status) }
    }

    package struct Change: Equatable, Sendable {
        /// Raw values are part of the wire format and never reused.
        package enum Kind: UInt8, CaseIterable, Sendable {
            case locked = 1
            case unlocked = 2
            case background = 3
            case foreground = 4
            /// The store has adopted the passcode of the evaluation that chose it.
            case passcodeCommitted = 5
            /// The store has removed the passcode; accepted only after an evaluation for that purpose.
            case passcodeRemoved = 6
            /// A program did not get its item because the keychain is locked; changes nothing.
            case refusedWhileLocked = 7
        }
        package var userID: UInt32
        package var kind: Kind

        package init(userID: UInt32, kind: Kind) { (self.userID, self.kind) = (userID, kind) }
    }

    package struct SetFacePermission: Equatable, Sendable {
        package var userID: UInt32
        package var application: String
        /// Nil deletes the decision, so that the app asks again; true is refused, since only a person can allow it.
        package var isAllowed: Bool?

        package init(userID: UInt32, application: String, isAllowed: Bool?) {
            (self.userID, self.application, self.isAllowed) = (userID, application, isAllowed)
        }
    }

    package struct BindKey: Equatable, Sendable {
        package var userID: UInt32
        /// The identifier of the user's store, 16 bytes.
        package var storeID: [UInt8]
        package var accessControl: AccessControl

        package init(userID: UInt32, storeID: [UInt8], accessControl: AccessControl) {
            (self.userID, self.storeID, self.accessControl) = (userID, storeID, accessControl)
        }
    }

    package struct Approve: Equatable, Sendable {
        package var userID: UInt32
        package var request: KeyApprovalRequest

        package init(userID: UInt32, request: KeyApprovalRequest) { (self.userID, self.request) = (userID, request) }
    }
}

/// A reply of `latchkey-authd`.
package enum AuthorityReply: Equatable, Sendable {
    case done
    case failure(Failure)
    case identity(ProgramIdentity)
    case granted(AuthenticationGrant)
    case keyBinding(KeyBinding)
    case approved(KeyApproval)
}

/// What `latchkeyd` gets of recovery codes: keys derived from them, each for one purpose.
package struct RecoveryGrant: Equatable, Sendable {
    /// Maximum keys of slots.
    package static let slotKeys = 4
    /// Opens the root key under the code that was entered, 32 bytes; nil if none was.
    package var rootKey: SecretBytes?
    /// Opens the root key under the code that was shown, 32 bytes.
    package var replacement: SecretBytes
    /// Keys of 32 bytes of which one opens the present slot of the passcode; empty if no code was entered.
    package var slotKeys: [SecretBytes]

    package init(rootKey: SecretBytes?, replacement: SecretBytes, slotKeys: [SecretBytes]) {
        (self.rootKey, self.replacement, self.slotKeys) = (rootKey, replacement, slotKeys)
    }
}

/// A call from `latchkey-authd` to `latchkeyd`.
package enum StoreCall: Equatable, Sendable {
    /// The first message of a connection: the key of its tokens. Reply: `done`.
    case welcome(Welcome)
    /// The state of a user's authority has changed. Reply: `done`.
    case state(State)
    /// Adopt an enrolment set durably. Reply: `done` or `failure`.
    case adopt(Adopt)
    /// Open the slot of the passcode. Reply: `opened`.
    case open(Open)
    /// Counters are durable. Reply: `done`.
    case counted(Counted)
    /// Counters were missing or unreadable. Reply: `done`.
    case countersWereLost(userID: UInt32)
    /// Replace the slot of the passcode by one under this key, because the account password was changed; the
    /// old slot was opened before. Reply: `done` or `failure`.
    case replaceSlot(Open)
    /// Pass a command to the TPM. Reply: `carried` or `failure`.
    case carry(TPMBytes)
    /// Pass a command to the TPM that proves the passcode to the session of a use which latchkeyd has begun. Reply:
    /// `carried` or `failure`.
    case carryProof(TPMBytes)
    /// Pass a command to the TPM that prepares the verification of a passcode, if a resource manager separates it from
    /// other programs. Reply: `carried` or `failure`.
    case carryPreparation(TPMBytes)
    /// Try whether this key, derived from a recovery code, opens the root key. Reply: `opened` or `failure`.
    case tryRecovery(TryRecovery)
    /// Messages or services that claim to be a sensor, or to report login sessions, were not trusted. Reply: `done`.
    case refused(Refused)
    /// Store the records of the recovery codes, which no key of latchkeyd opens. Reply: `done`, when they are durable,
    /// or `failure`.
    case storeRecoveryCopy(StoreRecoveryCopy)
    /// A try at a prompt of an evaluation failed, and was counted. Reply: `done`.
    case tryFailed(TryFailed)

    package struct State: Equatable, Sendable {
        package var userID: UInt32
        package var authority: AuthorityState
        package var prompts: [StatusReport.ShownPrompt]
        /// What the passcode is, or what a first one will be; nil if that is not known.
        package var passcodeKind: PasscodeKind?

        package init(
            userID: UInt32, authority: AuthorityState, prompts: [StatusReport.ShownPrompt], passcodeKind: PasscodeKind?
        ) {
            (self.userID, self.authority, self.prompts, self.passcodeKind) = (userID, authority, prompts, passcodeKind)
        }
    }

    package struct StoreRecoveryCopy: Equatable, Sendable {
        package var userID: UInt32
        /// At most `Limits.recoveryCopyBytes`; empty to remove the copy.
        package var copy: [UInt8]

        package init(userID: UInt32, copy: [UInt8]) { (self.userID, self.copy) = (userID, copy) }
    }

    package struct TryFailed: Equatable, Sendable {
        package var userID: UInt32
        /// The challenge of the evaluation. latchkeyd knows the program and the item that it belongs to.
        package var challenge: [UInt8]
        package var proof: TriedProof

        package init(userID: UInt32, challenge: [UInt8], proof: TriedProof) {
            (self.userID, self.challenge, self.proof) = (userID, challenge, proof)
        }
    }

    package struct TryRecovery: Equatable, Sendable {
        package var userID: UInt32
        /// 32 bytes.
        package var rootKey: SecretBytes

        package init(userID: UInt32, rootKey: SecretBytes) { (self.userID, self.rootKey) = (userID, rootKey) }
    }

    package struct Refused: Equatable, Sendable {
        /// The user whose audit log records it.
        package var userID: UInt32
        package var source: UntrustedSource
        /// How many refusals the call reports.
        package var count: UInt64

        package init(userID: UInt32, source: UntrustedSource, count: UInt64) {
            (self.userID, self.source, self.count) = (userID, source, count)
        }
    }

    /// The login sessions of a user were locked or unlocked, or the machine goes to sleep or wakes up. Sent when the user
    /// is attached, and after each change. Reply: `done`, when no key is in memory that the lock forbids.
    case sessionLock(SessionLock)

    package struct SessionLock: Equatable, Sendable {
        package var userID: UInt32
        package var isLocked: Bool

        package init(userID: UInt32, isLocked: Bool) { (self.userID, self.isLocked) = (userID, isLocked) }
    }

    package struct Welcome: Equatable, Sendable {
        /// The version of the messages: `Limits.wireVersion`.
        package var version: UInt64
        /// The identifier of the connection, 16 random bytes.
        package var connection: [UInt8]
        /// The key of the codes of tokens, 32 random bytes.
        package var key: SecretBytes

        package init(version: UInt64, connection: [UInt8], key: SecretBytes) {
            (self.version, self.connection, self.key) = (version, connection, key)
        }
    }

    package struct Adopt: Equatable, Sendable {
        package var userID: UInt32
        package var set: EnrolmentSet?

        package init(userID: UInt32, set: EnrolmentSet?) { (self.userID, self.set) = (userID, set) }
    }

    package struct Open: Equatable, Sendable {
        package var userID: UInt32
        /// The key of the slot, 32 bytes, derived from the passcode.
        package var slotKey: SecretBytes
        /// The identifier of the passcode's secret, 16 bytes.
        package var passcodeID: [UInt8]

        package init(userID: UInt32, slotKey: SecretBytes, passcodeID: [UInt8]) {
            (self.userID, self.slotKey, self.passcodeID) = (userID, slotKey, passcodeID)
        }
    }

    package struct Counted: Equatable, Sendable {
        package var userID: UInt32
        package var counters: PolicyCounters

        package init(userID: UInt32, counters: PolicyCounters) { (self.userID, self.counters) = (userID, counters) }
    }
}

/// A command of the TPM, or a response, as it is carried: at most 4096 bytes. Its secrets are encrypted.
package struct TPMBytes: Equatable, Sendable {
    package static let limit = 4096
    package var bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// A reply of `latchkeyd`.
package enum StoreReply: Equatable, Sendable {
    case done
    case failure(Failure)
    case opened(Bool)
    /// The response of the TPM to a carried command.
    case carried(TPMBytes)
}

/// Who a program is, as `latchkey-authd` determined it (docs/reference/identity.md).
package struct ProgramIdentity: Equatable, Sendable {
    /// How much the identity proves. Raw values are part of the wire format and never reused.
    package enum Strength: UInt8, CaseIterable, Sendable {
        /// Only the user is known.
        case user = 1
        /// A program file that only root can change.
        case program = 2
        /// A system service with a user ID of its own.
        case unit = 3
    }
    package var label: String
    /// The path of the executable; empty if it is not determined.
    package var program: String
    package var application: String
    package var groups: [String]
    package var strength: Strength
    /// The device number of the controlling terminal; 0 if it has none.
    package var terminal: UInt64
    /// The login session; empty if there is none.
    package var session: String
    /// Another number after each execve(2), also of the same program: two equal identities of a process are of one execution.
    package var execution: UInt64
    /// The path of the executable of a program that is not determined, for people alone: another file can be there by now.
    /// Empty if there is none.
    package var executable: String
    /// What its sandbox says about a program that is not determined; nil if it says nothing.
    package var sandbox: SandboxedApp?

    /// Returns the caller with this identity.
    ///
    /// - Parameter process: verifies that the process has not changed.
    package func caller(_ name: ProcessName, process: (any CallerProcess)? = nil) -> Caller {
        var caller = Caller(
            groups: groups, label: label, program: program, processID: name.processID, userID: name.userID,
            process: process)
        caller.application = application
        caller.processName = name
        caller.loginSession = session
        caller.terminal = terminal
        caller.sandbox = sandbox
        return caller
    }

    package init(
        label: String, program: String, application: String, groups: [String], strength: Strength, terminal: UInt64,
        session: String, execution: UInt64 = 0, executable: String = "", sandbox: SandboxedApp? = nil
    ) {
        self.label = label
        self.program = program
        self.application = application
        self.groups = groups
        self.strength = strength
        self.terminal = terminal
        self.session = session
        self.execution = execution
        self.executable = executable
        self.sandbox = sandbox
    }
}
