// SPDX-License-Identifier: Apache-2.0

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
    /// The pairs that an item of the Secret Service must have; never a part of a request of Apple's API.
    package var pairs = SecretPairs.none

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
            reason: reason.clipped(toBytes: Limits.titleBytes),
            fallbackTitle: fallbackTitle?.clipped(toBytes: Limits.titleBytes),
            cancelTitle: cancelTitle?.clipped(toBytes: Limits.titleBytes),
            interactionAllowed: interactionAllowed)
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

/// How many matching items a search returns (Apple: `kSecMatchLimit`).
package enum MatchLimit: Equatable, Sendable {
    /// One item, returned by itself and not in an array: `kSecMatchLimitOne`, the number 1, and the default.
    case one
    /// All items: `kSecMatchLimitAll`.
    case all
    /// At most this number of items, which is 2 or more.
    case first(UInt64)

    /// The limit of a number; nil for 0.
    package init?(_ number: UInt64) {
        switch number {
        case 0: return nil
        case 1: self = .one
        default: self = .first(number)
        }
    }

    /// The largest number of items; nil for `all`.
    package var maximum: UInt64? {
        switch self {
        case .one: 1
        case .all: nil
        case .first(let number): number
        }
    }

    /// Whether a search that has found `count` items is complete.
    package func isReached(by count: some BinaryInteger) -> Bool {
        guard let maximum else { return false }
        return count >= maximum
    }
}
