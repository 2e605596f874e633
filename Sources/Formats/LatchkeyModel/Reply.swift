// SPDX-License-Identifier: Apache-2.0

/// A reply of the daemon. `docs/reference/protocol.md` describes the encoding.
package enum Reply: Equatable, Sendable {
    case failure(Failure)
    case done
    case welcome(Welcome)
    case status(StatusReport)
    case context(ContextHandle)
    /// Some of the found items; `more` says whether another frame of the same reply follows.
    case items([FoundItem], more: Bool)
    case policy(PolicyAnswer)
    case environment(EnvironmentReport)
    case facePermissions([FacePermission])
    /// The newest lines of a simulated machine's transcript.
    case transcript([String])
    case exported(Exported)
    case imported(Imported)
    /// Continues a migration on another connection.
    case ticket(SecretBytes)
    case migrated(MigrationReport)
    /// Nothing was added, because the system's keychain would not take every item; the report of a migration that goes
    /// on nevertheless. The ticket is valid again.
    case migrationWouldLeaveItems(MigrationReport)
    /// The keychain was opened with a recovery code.
    case recovered(Recovered)
    /// The access groups that `mapGroups` asked for, in its order.
    case groups([String])
    case log(AuditPage)
    case check(CheckReport)
    case enclaveKey(EnclaveKey)
    /// The result of a key operation: a signature or a shared secret.
    case enclaveResult(SecretBytes)
    case enrolment(Enrolment)
    /// A message for a relying party: the answer to a challenge, or a proof.
    case attestationMessage([UInt8])
    /// The methods by which the user authenticated in a successful evaluation.
    case proven(Set<AuthenticationMethod>)
    /// Whether a prompt was waiting for the simulated touch.
    case simulated(delivered: Bool)

    /// Whether another frame of the same reply follows.
    package var isPartial: Bool {
        switch self {
        case .items(_, let more): more
        case .check(let report): report.more
        default: false
        }
    }

    /// The reply to `hello`.
    package struct Welcome: Equatable, Sendable {
        package var tier: Tier
        package var processID: Int32
        /// In tiers `file` and `tpm`, in the reply to the first hello: the second one has to repeat it. The process that sent
        /// the first may have executed another program since, which must not get what it has not asked for.
        package var challenge: [UInt8]?
        package init(tier: Tier, processID: Int32, challenge: [UInt8]? = nil) {
            (self.tier, self.processID, self.challenge) = (tier, processID, challenge)
        }
    }

    /// The reply to a passcode request `recoverAtPrompt`.
    package struct Recovered: Equatable, Sendable {
        /// Why the store was refused before, and is accepted as it is now; nil if it was not refused.
        package var accepted: Failure?
        /// The private keys that are lost: they were in another TPM, or only the earlier passcode released them.
        package var lost: SkippedItems

        package init(accepted: Failure? = nil, lost: SkippedItems = SkippedItems()) {
            (self.accepted, self.lost) = (accepted, lost)
        }
    }

    /// The reply to `exportItems`.
    package struct Exported: Equatable, Sendable {
        /// The next bytes of the backup; secrets in them are encrypted.
        package var bytes: [UInt8]
        /// Number of items in the backup so far.
        package var count: UInt64
        /// Items left out since the last reply.
        package var skipped: SkippedItems
        /// Identifies the export in the next request; nil if the backup is complete.
        package var cursor: [UInt8]?
        package init(bytes: [UInt8], count: UInt64, skipped: SkippedItems, cursor: [UInt8]?) {
            (self.bytes, self.count, self.skipped, self.cursor) = (bytes, count, skipped, cursor)
        }
    }

    /// The reply to `importItems`.
    package struct Imported: Equatable, Sendable {
        /// Whether the whole file was verified and the client must send it again from its first byte.
        package var wantsStart: Bool
        /// Number of items added so far.
        package var added: UInt64
        /// Number of items so far that were in the keychain already.
        package var present: UInt64
        /// Items left out since the last reply.
        package var skipped: SkippedItems
        /// Identifies the import in the next request; nil if the import is complete.
        package var cursor: [UInt8]?
        package init(wantsStart: Bool, added: UInt64, present: UInt64, skipped: SkippedItems, cursor: [UInt8]?) {
            self.wantsStart = wantsStart
            self.added = added
            self.present = present
            self.skipped = skipped
            self.cursor = cursor
        }
    }

    /// The reply to `canEvaluate`.
    package struct PolicyAnswer: Equatable, Sendable {
        /// Why the policy cannot be evaluated; nil if it can.
        package var refusal: Failure?
        package var biometry: BiometryKind
        package init(refusal: Failure?, biometry: BiometryKind) { (self.refusal, self.biometry) = (refusal, biometry) }
    }
}

/// The user's decision whether an app may use Face ID.
package struct FacePermission: Equatable, Sendable {
    package var application: String
    package var isAllowed: Bool
    package init(application: String, isAllowed: Bool) { (self.application, self.isAllowed) = (application, isAllowed) }
}

/// One item of a reply, with the parts that the request asked for.
package struct FoundItem: Equatable, Sendable {
    package var itemClass: ItemClass
    package var attributes: Attributes?
    package var accessControl: AccessControl?
    package var secret: SecretBytes?
    package var persistentReference: [UInt8]?
    /// Whether the item is deleted when the passcode is removed; known in lists of the items of every group only.
    package var isLostWithPasscode: Bool

    package init(
        itemClass: ItemClass, attributes: Attributes? = nil, accessControl: AccessControl? = nil,
        secret: SecretBytes? = nil, persistentReference: [UInt8]? = nil, isLostWithPasscode: Bool = false
    ) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.accessControl = accessControl
        self.secret = secret
        self.persistentReference = persistentReference
        self.isLostWithPasscode = isLostWithPasscode
    }
}

/// The status of the daemon, as `latchkey status` shows it.
package struct StatusReport: Equatable, Sendable {
    package var tier: Tier
    package var processID: Int32
    package var storePath: String
    package var itemCount: UInt64
    package var biometry: BiometryKind
    package var isEnrolled: Bool
    package var isPasscodeSet: Bool
    package var isBiometryLocked: Bool
    package var isLocked: Bool
    package var accessGroup: String
    /// Why the store cannot be used; nil if it can.
    package var problem: Failure?
    /// Number of damaged rows in the quarantine.
    package var quarantineCount: UInt64
    /// The implementation of the Secure Enclave; nil if there is none.
    package var enclave: EnclaveKind?
    /// The device of the enclave; nil for software, and for a device that could not be asked.
    package var enclaveDevice: EnclaveDevice?
    /// What root has to mend about the device of the enclave; nil if nothing is known.
    package var deviceProblem: Failure?
    /// Why secrets in the daemon's memory may be swapped out; nil if their pages are locked.
    package var unlockedMemory: String?
    /// The prompts that are shown: at most one in each login session.
    package var prompts: [ShownPrompt]
    /// The login session of the program that asked for the report; empty if it has none, or if it is not known.
    package var session: String
    /// What the passcode is, or what a first one will be; nil if that is not known.
    package var passcodeKind: PasscodeKind?
    /// Whether the sensor is virtual hardware, which an administrator has allowed.
    package var isBiometryVirtual: Bool

    /// Whether the TPM counts tries of a passcode that can be guessed without it, from the hash in `/etc/shadow`.
    package var canBeGuessedWithoutTPM: Bool { tier == .tpm && isPasscodeSet && passcodeKind == .account }

    /// A program whose prompt is shown; other prompts of the same login session wait for it.
    package struct ShownPrompt: Equatable, Sendable {
        /// The name of the program, derived from the kernel's peer credentials.
        package var program: String
        package var processID: Int32
        /// The login session of the program; empty if it has none.
        package var session: String
        package init(program: String, processID: Int32, session: String = "") {
            (self.program, self.processID, self.session) = (program, processID, session)
        }
    }

    package init(
        tier: Tier, processID: Int32, storePath: String, itemCount: UInt64, biometry: BiometryKind, isEnrolled: Bool,
        isPasscodeSet: Bool, isBiometryLocked: Bool, isLocked: Bool = false, accessGroup: String, problem: Failure?,
        quarantineCount: UInt64 = 0, enclave: EnclaveKind? = nil, enclaveDevice: EnclaveDevice? = nil,
        deviceProblem: Failure? = nil, unlockedMemory: String? = nil, prompts: [ShownPrompt] = [], session: String = "",
        passcodeKind: PasscodeKind? = nil, isBiometryVirtual: Bool = false
    ) {
        self.isBiometryVirtual = isBiometryVirtual
        self.tier = tier
        self.processID = processID
        self.storePath = storePath
        self.itemCount = itemCount
        self.biometry = biometry
        self.isEnrolled = isEnrolled
        self.isPasscodeSet = isPasscodeSet
        self.isBiometryLocked = isBiometryLocked
        self.isLocked = isLocked
        self.accessGroup = accessGroup
        self.problem = problem
        self.quarantineCount = quarantineCount
        self.enclave = enclave
        self.enclaveDevice = enclaveDevice
        self.deviceProblem = deviceProblem
        self.unlockedMemory = unlockedMemory
        self.prompts = prompts
        self.session = session
        self.passcodeKind = passcodeKind
    }
}
