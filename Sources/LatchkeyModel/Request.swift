// SPDX-License-Identifier: Apache-2.0

/// What a client asks. The shape on the wire is in `docs/protocol.md`.
package enum Request: Equatable, Sendable {
    case hello(Hello)
    case status
    case createContext
    case invalidateContext(ContextHandle)
    case canEvaluate(Policy)
    case evaluate(Evaluate)
    case evaluateRule(EvaluateRule)
    /// The environment now, or as soon as its revision is another than that.
    case environment(unlike: UInt64?)
    case addItem(AddItem)
    case copyItems(CopyItems)
    case updateItems(UpdateItems)
    case deleteItems(ItemQuery)
    case listItems(ItemQuery)
    /// The items of every group, as listing shows them.
    case listEverything
    case passcode(PasscodeChange)
    /// Locks the keychain of the user.
    case lock
    /// Unlocks it, after a finger or the passcode.
    case unlock(Prompting)
    /// What the person has told apps that asked to look at faces.
    case facePermissions
    /// Takes such an answer back.
    case changeFacePermission(FacePermissionChange)
    case simulate(SimulatorCommand)
    /// What happened on a simulated machine.
    case transcript
    /// The next bytes of a backup: made, or taken in.
    case exportItems(ExportItems)
    case importItems(ImportItems)
    /// A part of the audit trail.
    case log(Log)
    /// Looks at everything in the store and changes nothing.
    case check
    /// Brings back the rows that were put aside and authenticate again.
    case restoreRows
    /// Uses database and anchor as they are, after the passcode.
    case acceptStore
    /// Deletes what asks for a proof, the passcode and the enrolment key.
    case discardProtected
    /// The same for a passcode that is forgotten: nothing is asked.
    case discardForgotten
    /// Makes a private key of the enclave, uses it, or tells what it is.
    case createEnclaveKey(CreateEnclaveKey)
    case useEnclaveKey(UseEnclaveKey)
    case describeEnclaveKey(EnclaveKeyName)

    /// The first request of a connection.
    package struct Hello: Equatable, Sendable {
        /// The name the app gives itself; believed in tiers `user` and `simulated` only.
        package var application: String
        /// What the app looks at faces for (`NSFaceIDUsageDescription`); without it, it may not.
        package var faceUsage: String?
        /// The access groups the app names, its default first (behaviour KC-23); none for the one of its name. Believed in
        /// the same tiers only.
        package var groups: [String]
        package init(application: String, faceUsage: String? = nil, groups: [String] = []) {
            self.application = application
            self.faceUsage = faceUsage
            self.groups = groups
        }
    }

    /// `evaluatePolicy`.
    package struct Evaluate: Equatable, Sendable {
        package var context: ContextHandle
        package var policy: Policy
        package var prompting: Prompting
        /// Seconds within which an unlock by biometry stands for a new match; at most 300 count.
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
        package init(context: ContextHandle, accessControl: AccessControl, prompting: Prompting) {
            self.context = context
            self.accessControl = accessControl
            self.prompting = prompting
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
        /// How many at the most; 0 is all.
        package var limit: UInt64
        package var returns: Returns
        package var authentication: Authentication
        package init(query: ItemQuery, limit: UInt64, returns: Returns, authentication: Authentication) {
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

    /// The next bytes of a backup that the daemon writes.
    package struct ExportItems: Equatable, Sendable {
        /// What the last answer gave; nil begins an export, for which the daemon asks the person.
        package var cursor: [UInt8]?
        package init(cursor: [UInt8]?) { self.cursor = cursor }
    }

    /// The next bytes of a backup that the daemon reads.
    package struct ImportItems: Equatable, Sendable {
        /// What the last answer gave; nil begins an import, for which the daemon asks the person.
        package var cursor: [UInt8]?
        package var bytes: [UInt8]
        /// Whether the file ends with them.
        package var isLast: Bool
        package init(cursor: [UInt8]?, bytes: [UInt8], isLast: Bool) {
            self.cursor = cursor
            self.bytes = bytes
            self.isLast = isLast
        }
    }

    /// Which part of the audit trail.
    package struct Log: Equatable, Sendable {
        /// The entries behind the one of that number.
        package var after: Int64
        /// How many at the most; a part also ends when a frame is full.
        package var limit: UInt64
        /// Whether the chain is checked from that entry on.
        package var verifies: Bool
        package init(after: Int64, limit: UInt64, verifies: Bool) {
            self.after = after
            self.limit = limit
            self.verifies = verifies
        }
    }

    /// Which answer is taken back, and what holds after.
    package struct FacePermissionChange: Equatable, Sendable {
        package var application: String
        /// Whether the app may ask again; otherwise it is refused from now on.
        package var mayAskAgain: Bool
        package init(application: String, mayAskAgain: Bool) {
            self.application = application
            self.mayAskAgain = mayAskAgain
        }
    }

    /// Setting, changing or removing the passcode of tiers `user` and `simulated`. The old one is never part of a
    /// request: the daemon asks for it at a prompt of its own.
    package enum PasscodeChange: Equatable, Sendable {
        case set(SecretBytes)
        case change(SecretBytes)
        case remove
    }
}

/// Which items are meant.
package struct ItemQuery: Equatable, Sendable {
    package var itemClass: ItemClass?
    /// Attributes that have to be equal.
    package var attributes: Attributes
    /// Accessibility that has to be equal.
    package var accessibility: Accessibility?
    /// Whether `synchronizable` matches both (`kSecAttrSynchronizableAny`).
    package var anySynchronizable: Bool
    /// The one item that is meant.
    package var persistentReference: [UInt8]?

    /// Makes a query.
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

    /// Whether it names one item of each group, by its primary key or by a reference.
    package var namesOneItem: Bool {
        if persistentReference != nil { return true }
        guard let itemClass else { return false }
        // The group is the caller's own where none is given; `synchronizable` tells at most two apart.
        return itemClass.primaryKey.allSatisfy {
            attributes[$0] != nil || [.accessGroup, .synchronizable].contains($0)
        }
    }
}

/// What an answer holds for each item.
package struct Returns: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let data = Returns(rawValue: 1)
    package static let attributes = Returns(rawValue: 2)
    package static let reference = Returns(rawValue: 4)
    package static let persistentReference = Returns(rawValue: 8)
    /// Every known bit.
    package static let known: Returns = [.data, .attributes, .reference, .persistentReference]
}

/// What the prompt of a request says and whether there may be one.
package struct Prompting: Equatable, Sendable {
    /// The app's reason; may be empty for items.
    package var reason: String
    /// nil: the default; "": no button; else the title.
    package var fallbackTitle: String?
    /// nil or "": the default.
    package var cancelTitle: String?
    /// Whether a prompt may be shown at all.
    package var interactionAllowed: Bool

    /// Makes the wishes of a caller.
    package init(
        reason: String = "", fallbackTitle: String? = nil, cancelTitle: String? = nil, interactionAllowed: Bool = true
    ) {
        self.reason = reason
        self.fallbackTitle = fallbackTitle
        self.cancelTitle = cancelTitle
        self.interactionAllowed = interactionAllowed
    }

    /// The same with texts that fit a frame; what is shown of them is much less.
    package var clipped: Prompting {
        Prompting(
            reason: Self.clip(reason), fallbackTitle: fallbackTitle.map(Self.clip),
            cancelTitle: cancelTitle.map(Self.clip),
            interactionAllowed: interactionAllowed)
    }

    /// Cuts by bytes: one character may have any number of them.
    private static func clip(_ text: String) -> String {
        guard text.utf8.count > Limits.titleBytes else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: Limits.titleBytes)
        while UTF8.isContinuation(text.utf8[end]) { end = text.utf8.index(before: end) }
        return String(text.unicodeScalars[..<end])
    }
}

/// How an item request may authenticate.
package struct Authentication: Equatable, Sendable {
    /// The context to use and to mark, or nil for a throw-away one.
    package var context: ContextHandle?
    /// Whether items that would have to be asked for are left out instead (`kSecUseAuthenticationUISkip`).
    package var skipsProtected: Bool
    package var prompting: Prompting
    /// The app's own password, for items that ask for one.
    package var applicationPassword: SecretBytes?

    /// Makes the wishes of a caller.
    package init(
        context: ContextHandle? = nil, skipsProtected: Bool = false, prompting: Prompting = Prompting(),
        applicationPassword: SecretBytes? = nil
    ) {
        self.applicationPassword = applicationPassword
        self.context = context
        self.skipsProtected = skipsProtected
        self.prompting = prompting
    }
}

/// What a script does to the simulated world.
package enum SimulatorCommand: Equatable, Sendable {
    /// Exchanges the sensor; `none` unplugs it.
    case sensor(BiometryKind)
    /// Enrols one more finger or face.
    case enrol
    /// Forgets every enrolled finger or face.
    case unenrol
    /// Replaces an enrolled finger by another.
    case replaceFinger
    /// A touch or a look.
    case touch(matching: Bool)
    /// Moves the clock on.
    case advance(seconds: UInt64)
    /// Drops what was scripted and not used.
    case reset
    /// Locks the device.
    case lock
    /// Unlocks it by biometry or by the passcode.
    case unlock(byBiometry: Bool)
    /// Pairs a device, or another one of that type, and brings it near.
    case pair(CompanionType)
    case unpair(CompanionType)
    /// Brings a paired device near or takes it away.
    case nearby(CompanionType, Bool)
    /// Puts the apps into the background or back.
    case background(Bool)
    /// The person confirms on the paired device.
    case confirm
    /// The person answers whether the app may look at faces.
    case permission(Bool)
    /// Something goes wrong once.
    case fail(SimulatedFailure)
    /// Whether a prompt takes whatever is typed for the passcode.
    case acceptAnyPasscode(Bool)
    /// The person cancels, chooses the fallback or types a passcode, as soon as a prompt takes it.
    case cancel
    case fallback
    case enter(SecretBytes)
    /// The person confirms that the recovery code is written down, or types one, as soon as a prompt takes it.
    case acknowledgeCode
    case enterCode(SecretBytes)
    /// Asks for the recovery code that a prompt showed last: a script reads what a person would read.
    case tellCode
    /// The machine starts again; the daemon is ended by whoever asks.
    case restart
}

/// What a script lets go wrong, once.
package enum SimulatedFailure: UInt8, CaseIterable, Sendable {
    /// The next durable write finds the disk full.
    case diskFull = 1
    /// The next request for items meets a group the app has no right to.
    case missingEntitlement = 2
    /// The sensor gives up the next scan.
    case sensor = 3
}
