// SPDX-License-Identifier: Apache-2.0

/// A request of a client. `docs/protocol.md` describes the encoding.
package enum Request: Equatable, Sendable {
    case hello(Hello)
    case status
    case createContext
    case invalidateContext(ContextHandle)
    case canEvaluate(Policy)
    case evaluate(Evaluate)
    case evaluateRule(EvaluateRule)
    /// Requests an `EnvironmentReport`: at once if `unlike` is nil or differs from the current revision, otherwise
    /// after the next change.
    case environment(unlike: UInt64?)
    case addItem(AddItem)
    case copyItems(CopyItems)
    case updateItems(UpdateItems)
    case deleteItems(ItemQuery)
    case listItems(ItemQuery)
    /// Lists the items of all access groups; only in tiers that do not separate the programs of a user.
    case listEverything
    /// Lists the names and rules of the items of all access groups, after a finger, a face or the passcode at a prompt for
    /// that purpose.
    case listNames
    case passcode(PasscodeChange)
    /// Locks the keychain of the user.
    case lock
    /// Unlocks the keychain after authentication by biometry or passcode.
    case unlock(Prompting)
    /// Lists the face permissions of all apps.
    case facePermissions
    /// Withdraws a face permission.
    case changeFacePermission(FacePermissionChange)
    case simulate(SimulatorCommand)
    /// Returns the newest lines of a simulated machine's transcript.
    case transcript
    /// Requests the next bytes of a backup.
    case exportItems(ExportItems)
    /// Sends the next bytes of a backup.
    case importItems(ImportItems)
    /// Returns a page of the audit log.
    case log(Log)
    /// Checks the whole store without changing it.
    case check
    /// Moves quarantined rows that authenticate again back to the items.
    case restoreRows
    /// Accepts database and anchor in their present state; requires the passcode if one is set.
    case acceptStore
    /// Deletes the passcode, the enrolment key, and all items that require a proof or are of the passcode class;
    /// requires the passcode if one is set.
    case discardProtected
    /// Does the same as `discardProtected` without the passcode, which was forgotten. In tiers `file` and `tpm` the password
    /// of the account is verified instead.
    case discardForgotten
    /// Asks the user of the system's keychain to allow a migration; the reply is a ticket.
    case beginMigration
    /// Sends the next items of a migration to the system's keychain.
    case receiveItems(ReceiveItems)
    /// Returns the access groups that items of these groups get in the system's keychain.
    case mapGroups([String])
    /// Moves the items of the user's own store to the system's keychain, or reports what would happen.
    case migrate(Migrate)
    /// Creates a private key of the enclave.
    case createEnclaveKey(CreateEnclaveKey)
    /// Performs an operation with a private key of the enclave.
    case useEnclaveKey(UseEnclaveKey)
    /// Describes a private key of the enclave.
    case describeEnclaveKey(EnclaveKeyName)
    /// Makes an attestation key for a relying party, after asking the person.
    case beginEnrolment(BeginEnrolment)
    /// Answers the challenge of a relying party.
    case answerEnrolment(AnswerEnrolment)
    /// Proves to a relying party that a private key of the enclave cannot leave this device.
    case proveKey(ProveKey)

    /// The first request of a connection.
    package struct Hello: Equatable, Sendable {
        /// The name that the app gives itself; used in tiers `user` and `simulated` only.
        package var application: String
        /// The app's face usage description (`NSFaceIDUsageDescription`); without one, the app may not use Face ID.
        package var faceUsage: String?
        /// The access groups that the app names, its default first (behaviour KC-23); if empty, the group with the
        /// app's name. Used in tiers `user` and `simulated` only.
        package var groups: [String]
        /// The challenge of an earlier reply on this connection; nil in the first request.
        package var challenge: [UInt8]?
        package init(
            application: String, faceUsage: String? = nil, groups: [String] = [], challenge: [UInt8]? = nil
        ) {
            self.application = application
            self.faceUsage = faceUsage
            self.groups = groups
            self.challenge = challenge
        }

        /// Bytes of a challenge.
        package static let challengeBytes = 16
    }

    /// `evaluatePolicy`.
    package struct Evaluate: Equatable, Sendable {
        package var context: ContextHandle
        package var policy: Policy
        package var prompting: Prompting
        /// Seconds after an unlock by biometry during which it is accepted as proof; values above 300 count as 300.
        package var reuseSeconds: UInt64
        package init(context: ContextHandle, policy: Policy, prompting: Prompting, reuseSeconds: UInt64 = 0) {
            self.context = context
            self.policy = policy
            self.prompting = prompting
            self.reuseSeconds = reuseSeconds
        }
    }

    /// `evaluateAccessControl`.
    package struct EvaluateRule: Equatable, Sendable {
        package var context: ContextHandle
        package var accessControl: AccessControl
        package var prompting: Prompting
        /// As in `Evaluate`.
        package var reuseSeconds: UInt64
        package init(
            context: ContextHandle, accessControl: AccessControl, prompting: Prompting, reuseSeconds: UInt64 = 0
        ) {
            self.context = context
            self.accessControl = accessControl
            self.prompting = prompting
            self.reuseSeconds = reuseSeconds
        }
    }

    /// `SecItemAdd`.
    package struct AddItem: Equatable, Sendable {
        package var itemClass: ItemClass
        package var attributes: Attributes
        package var accessControl: AccessControl
        package var secret: SecretBytes?
        package var returns: Returns
        package var authentication: Authentication
        package init(
            itemClass: ItemClass, attributes: Attributes, accessControl: AccessControl, secret: SecretBytes?,
            returns: Returns, authentication: Authentication
        ) {
            self.itemClass = itemClass
            self.attributes = attributes
            self.accessControl = accessControl
            self.secret = secret
            self.returns = returns
            self.authentication = authentication
        }
    }

    /// `SecItemCopyMatching`.
    package struct CopyItems: Equatable, Sendable {
        package var query: ItemQuery
        package var limit: MatchLimit
        package var returns: Returns
        package var authentication: Authentication
        package init(query: ItemQuery, limit: MatchLimit, returns: Returns, authentication: Authentication) {
            self.query = query
            self.limit = limit
            self.returns = returns
            self.authentication = authentication
        }
    }

    /// `SecItemUpdate`.
    package struct UpdateItems: Equatable, Sendable {
        package var query: ItemQuery
        package var changes: Attributes
        package var accessControl: AccessControl?
        package var secret: SecretBytes?
        package var authentication: Authentication
        package init(
            query: ItemQuery, changes: Attributes, accessControl: AccessControl?, secret: SecretBytes?,
            authentication: Authentication
        ) {
            self.query = query
            self.changes = changes
            self.accessControl = accessControl
            self.secret = secret
            self.authentication = authentication
        }
    }

    /// Requests the next bytes of a backup.
    package struct ExportItems: Equatable, Sendable {
        /// The cursor of the last reply; nil begins an export, which the user authorises at a prompt.
        package var cursor: [UInt8]?
        package init(cursor: [UInt8]?) { self.cursor = cursor }
    }

    /// Sends the next bytes of a backup.
    package struct ImportItems: Equatable, Sendable {
        /// The cursor of the last reply; nil begins an import, which the user authorises at a prompt.
        package var cursor: [UInt8]?
        package var bytes: [UInt8]
        /// Whether `bytes` is the end of the backup.
        package var isLast: Bool
        package init(cursor: [UInt8]?, bytes: [UInt8], isLast: Bool) {
            self.cursor = cursor
            self.bytes = bytes
            self.isLast = isLast
        }
    }

    /// Requests a page of the audit log.
    package struct Log: Equatable, Sendable {
        /// The number of the entry after which the page begins.
        package var after: Int64
        /// Maximum number of entries; a page also ends when a frame is full.
        package var limit: UInt64
        /// Whether the hash chain of the page is verified.
        package var verifies: Bool
        package init(after: Int64, limit: UInt64, verifies: Bool) {
            self.after = after
            self.limit = limit
            self.verifies = verifies
        }
    }

    /// Withdraws the face permission of an app.
    package struct FacePermissionChange: Equatable, Sendable {
        package var application: String
        /// Whether the app may ask again; if false, it is refused from now on.
        package var mayAskAgain: Bool
        package init(application: String, mayAskAgain: Bool) {
            self.application = application
            self.mayAskAgain = mayAskAgain
        }
    }

    /// Sets, changes or removes the passcode. The current passcode is never part of a request; the daemon asks for it
    /// at a prompt.
    package enum PasscodeChange: Equatable, Sendable {
        /// Only in tiers `user` and `simulated`: elsewhere neither the program nor `latchkeyd` may see a passcode.
        case set(SecretBytes)
        /// Only in tiers `user` and `simulated`.
        case change(SecretBytes)
        case remove
        /// The prompt asks for the new passcode.
        case setAtPrompt
        /// The prompt asks for the current and for the new passcode.
        case changeAtPrompt
        /// The prompt asks for the recovery code and for a new passcode, and shows a new code. Reply: `recovered`.
        case recoverAtPrompt
    }
}

/// The conditions that select items.
package struct ItemQuery: Equatable, Sendable {
    /// The class of the items; nil for any class.
    package var itemClass: ItemClass?
    /// Attributes that must be equal.
    package var attributes: Attributes
    /// The accessibility class, which must be equal; nil for any.
    package var accessibility: Accessibility?
    /// Whether items match with either value of `synchronizable` (`kSecAttrSynchronizableAny`).
    package var anySynchronizable: Bool
    /// The persistent reference of a single item; nil for any item.
    package var persistentReference: [UInt8]?

    /// Creates a query from its conditions.
    package init(
        itemClass: ItemClass?, attributes: Attributes = [:], accessibility: Accessibility? = nil,
        anySynchronizable: Bool = false, persistentReference: [UInt8]? = nil
    ) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.accessibility = accessibility
        self.anySynchronizable = anySynchronizable
        self.persistentReference = persistentReference
    }

    /// Whether the query gives a persistent reference or a primary key, so that it matches only a few items at most.
    package var namesOneItem: Bool {
        if persistentReference != nil { return true }
        guard let itemClass else { return false }
        // Without a group only the caller's groups match; without `synchronizable` at most two items differ in it.
        return itemClass.primaryKey.allSatisfy {
            attributes[$0] != nil || [.accessGroup, .synchronizable].contains($0)
        }
    }
}

/// The parts of each found item that a reply contains (`kSecReturn...`).
package struct Returns: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let data = Returns(rawValue: 1)
    package static let attributes = Returns(rawValue: 2)
    package static let reference = Returns(rawValue: 4)
    package static let persistentReference = Returns(rawValue: 8)
    /// All known flags.
    package static let known: Returns = [.data, .attributes, .reference, .persistentReference]
}

/// The texts that a caller supplies for the prompt of a request, and whether a prompt is allowed.
package struct Prompting: Equatable, Sendable {
    /// The app's reason; may be empty in item requests.
    package var reason: String
    /// The title of the fallback button; nil for the default title, empty for no button.
    package var fallbackTitle: String?
    /// The title of the cancel button; nil or empty for the default title.
    package var cancelTitle: String?
    /// Whether a prompt may be shown.
    package var interactionAllowed: Bool

    /// Creates a value from its fields.
    package init(
        reason: String = "", fallbackTitle: String? = nil, cancelTitle: String? = nil, interactionAllowed: Bool = true
    ) {
        self.reason = reason
        self.fallbackTitle = fallbackTitle
        self.cancelTitle = cancelTitle
        self.interactionAllowed = interactionAllowed
    }

    /// A copy whose texts are clipped to `Limits.titleBytes`, so that they fit a frame; prompts show far less.
    package var clipped: Prompting {
        Prompting(
            reason: Self.clip(reason), fallbackTitle: fallbackTitle.map(Self.clip),
            cancelTitle: cancelTitle.map(Self.clip),
            interactionAllowed: interactionAllowed)
    }

    /// Clips to a number of bytes, not characters, since one character may consist of any number of bytes.
    private static func clip(_ text: String) -> String {
        guard text.utf8.count > Limits.titleBytes else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: Limits.titleBytes)
        while UTF8.isContinuation(text.utf8[end]) { end = text.utf8.index(before: end) }
        return String(text.unicodeScalars[..<end])
    }
}

/// The authentication options of an item request.
package struct Authentication: Equatable, Sendable {
    /// The context whose proofs are used and to which new proofs are added; nil if proofs are for this request only.
    package var context: ContextHandle?
    /// Whether items that require a prompt are skipped (`kSecUseAuthenticationUISkip`).
    package var skipsProtected: Bool
    package var prompting: Prompting
    /// The application password, for items that require one.
    package var applicationPassword: SecretBytes?
    /// Seconds after an unlock by biometry during which it is accepted as proof; values above 300 count as 300.
    package var reuseSeconds: UInt64

    /// Creates a value from its fields.
    package init(
        context: ContextHandle? = nil, skipsProtected: Bool = false, prompting: Prompting = Prompting(),
        applicationPassword: SecretBytes? = nil, reuseSeconds: UInt64 = 0
    ) {
        self.applicationPassword = applicationPassword
        self.reuseSeconds = reuseSeconds
        self.context = context
        self.skipsProtected = skipsProtected
        self.prompting = prompting
    }
}
