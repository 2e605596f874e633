// SPDX-License-Identifier: Apache-2.0

/// What the daemon answers. The shape on the wire is in `docs/protocol.md`.
package enum Reply: Equatable, Sendable {
    case failure(Failure)
    case done
    case welcome(Welcome)
    case status(StatusReport)
    case context(ContextHandle)
    /// Some of the items of an answer; `more` says that another frame follows.
    case items([FoundItem], more: Bool)
    case policy(PolicyAnswer)
    case environment(EnvironmentReport)
    case facePermissions([FacePermission])
    /// The newest lines of a simulated machine's transcript.
    case transcript([String])
    case exported(Exported)
    case imported(Imported)
    case log(AuditPage)
    case check(CheckReport)
    case enclaveKey(EnclaveKey)
    /// What an operation of a key gave: a signature or a secret.
    case enclaveResult(SecretBytes)
    /// What an evaluation that succeeded was proven by.
    case proven(Set<AuthenticationMethod>)
    /// Whether a simulated touch met a waiting prompt.
    case simulated(delivered: Bool)

    /// Whether another frame of the same answer follows.
    package var isPartial: Bool {
        switch self {
        case .items(_, let more): more
        case .check(let report): report.more
        default: false
        }
    }

    /// The answer to `hello`.
    package struct Welcome: Equatable, Sendable {
        package var tier: Tier
        package var processID: Int32
        package init(tier: Tier, processID: Int32) {
            self.tier = tier
            self.processID = processID
        }
    }

    /// The answer to `exportItems`.
    package struct Exported: Equatable, Sendable {
        /// Bytes of the backup. What is secret in them is sealed.
        package var bytes: [UInt8]
        /// Items that are in the backup so far.
        package var count: UInt64
        /// Items passed by since the last answer.
        package var staying: StayingItems
        /// Names the export for the next request; nil when the backup is whole.
        package var cursor: [UInt8]?
        package init(bytes: [UInt8], count: UInt64, staying: StayingItems, cursor: [UInt8]?) {
            self.bytes = bytes
            self.count = count
            self.staying = staying
            self.cursor = cursor
        }
    }

    /// The answer to `importItems`.
    package struct Imported: Equatable, Sendable {
        /// Whether the file was verified to its end, and its bytes are to come once more from the first one.
        package var wantsStart: Bool
        /// Items that were added so far, and that were there already.
        package var added: UInt64
        package var present: UInt64
        /// Items passed by since the last answer.
        package var staying: StayingItems
        /// Names the import for the next request; nil when everything was taken in.
        package var cursor: [UInt8]?
        package init(wantsStart: Bool, added: UInt64, present: UInt64, staying: StayingItems, cursor: [UInt8]?) {
            self.wantsStart = wantsStart
            self.added = added
            self.present = present
            self.staying = staying
            self.cursor = cursor
        }
    }

    /// The answer to `canEvaluate`.
    package struct PolicyAnswer: Equatable, Sendable {
        /// nil when the policy can be evaluated.
        package var refusal: Failure?
        package var biometry: BiometryKind
        package init(refusal: Failure?, biometry: BiometryKind) {
            self.refusal = refusal
            self.biometry = biometry
        }
    }
}

/// What the person told an app that asked to look at faces.
package struct FacePermission: Equatable, Sendable {
    package var application: String
    package var isAllowed: Bool
    package init(application: String, isAllowed: Bool) {
        self.application = application
        self.isAllowed = isAllowed
    }
}

/// One item of an answer.
package struct FoundItem: Equatable, Sendable {
    package var itemClass: ItemClass
    package var attributes: Attributes?
    package var accessControl: AccessControl?
    package var secret: SecretBytes?
    package var persistentReference: [UInt8]?

    /// Makes an item.
    package init(
        itemClass: ItemClass, attributes: Attributes? = nil, accessControl: AccessControl? = nil,
        secret: SecretBytes? = nil, persistentReference: [UInt8]? = nil
    ) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.accessControl = accessControl
        self.secret = secret
        self.persistentReference = persistentReference
    }
}

/// What `latchkey status` shows.
package struct StatusReport: Equatable, Sendable {
    package var tier: Tier
    package var processID: Int32
    package var storePath: String
    package var itemCount: UInt64
    package var biometry: BiometryKind
    package var isEnrolled: Bool
    package var isPasscodeSet: Bool
    package var isBiometryLocked: Bool
    /// Whether the keychain is locked.
    package var isLocked: Bool
    package var accessGroup: String
    /// Why the store cannot be used, or nil.
    package var problem: Failure?
    /// Damaged rows that were put aside.
    package var quarantineCount: UInt64
    /// What stands for the Secure Enclave; nil: there is none.
    package var enclave: EnclaveKind?
    /// Why secrets in the daemon's memory may be swapped out; nil: their pages are locked.
    package var unlockedMemory: String?
    /// The prompt that is up; nil: there is none.
    package var prompt: ShownPrompt?

    /// Whose prompt is up: others wait for it.
    package struct ShownPrompt: Equatable, Sendable {
        /// The program that asks, as the kernel knows it.
        package var program: String
        package var processID: Int32
        package init(program: String, processID: Int32) {
            self.program = program
            self.processID = processID
        }
    }

    /// Makes a report.
    package init(
        tier: Tier, processID: Int32, storePath: String, itemCount: UInt64, biometry: BiometryKind, isEnrolled: Bool,
        isPasscodeSet: Bool, isBiometryLocked: Bool, isLocked: Bool = false, accessGroup: String, problem: Failure?,
        quarantineCount: UInt64 = 0, enclave: EnclaveKind? = nil, unlockedMemory: String? = nil,
        prompt: ShownPrompt? = nil
    ) {
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
        self.unlockedMemory = unlockedMemory
        self.prompt = prompt
    }
}
