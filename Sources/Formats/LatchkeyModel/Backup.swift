// SPDX-License-Identifier: Apache-2.0

/// Why an export, an import or a migration skips an item, or that it replaced an older one (`olderThere`). Raw values are
/// part of the wire format.
package enum SkipReason: UInt8, CaseIterable, Sendable {
    /// The accessibility class of the item binds it to this device.
    case thisDeviceOnly = 1
    /// The item is a private key that never leaves its token.
    case inToken = 2
    /// The item is protected by an application password, which the daemon does not have.
    case applicationPassword = 3
    /// The access control of the item requires a proof that another machine cannot verify.
    case boundRule = 4
    /// The item cannot be read on this machine.
    case unreadable = 5
    /// The item is larger than a record of a backup.
    case tooLarge = 6
    /// The item belongs to another app, and no passcode is set with which the user could authorise the export.
    case foreignGroup = 7
    /// The system's keychain has a newer item with the same primary key.
    case newerThere = 8
    /// Another item of the same migration has the same primary key.
    case nameTaken = 9
    /// The item is bound to the fingers or faces that are enrolled.
    case boundToEnrolment = 10
    /// The item was bound to fingers or faces that are no longer enrolled.
    case invalidated = 11
    /// The item replaced an older one with the same primary key.
    case olderThere = 12
    /// The item is a private key of a TPM that is not there any more.
    case otherTPM = 13
    /// The item is a private key of a TPM that only the passcode before a recovery releases.
    case earlierPasscode = 14
    /// The system's keychain has an item with the same primary key that a migration never replaces.
    case irreplaceableThere = 15
    /// The system's keychain has an item with the same primary key that cannot be read.
    case unreadableThere = 16
    /// No app of this user can have the access group of the item.
    case impossibleGroup = 17

    package var words: Phrase {
        switch self {
        case .thisDeviceOnly: "its class is bound to this device"
        case .inToken: "it is a private key of the enclave"
        case .applicationPassword: "a password of the app protects it"
        case .boundRule: "its access control is bound to this device"
        case .unreadable: "it cannot be read"
        case .tooLarge: "it is too large"
        case .foreignGroup: "it belongs to another app, and no passcode is set"
        case .newerThere: "the system's keychain has a newer one"
        case .irreplaceableThere: "the system's keychain has one of that name that a move never replaces"
        case .unreadableThere: "the system's keychain has one of that name that cannot be read"
        case .impossibleGroup: "no app here can have its access group"
        case .nameTaken: "another item of the store has the same name there"
        case .boundToEnrolment: "it is bound to the enrolled fingers or faces"
        case .invalidated: "it was bound to fingers or faces that are no longer enrolled"
        case .olderThere: "it replaced an older one"
        case .otherTPM: "it was in another TPM"
        case .earlierPasscode: "only the passcode before the recovery releases it"
        }
    }
}

/// An item that an export or import left out, with the attributes that identify it to the user.
package struct SkippedItem: Equatable, Sendable {
    package var itemClass: ItemClass
    package var group: String
    /// The account of a password, or the tag of a key.
    package var account: String
    /// The service of a password, or the server of an internet password.
    package var service: String
    package var label: String
    package var reason: SkipReason

    package init(
        itemClass: ItemClass, group: String, account: String, service: String, label: String, reason: SkipReason
    ) {
        self.itemClass = itemClass
        self.group = group
        self.account = account
        self.service = service
        self.label = label
        self.reason = reason
    }

    /// Creates a description from an item's attributes.
    ///
    /// Each text is cut to `Limits.skippedCharacters` Unicode scalars, so that the items fit a frame.
    ///
    /// - Parameter attributes: the attributes; nil for an item that cannot be read, whose texts are then empty.
    package init(_ itemClass: ItemClass, _ attributes: Attributes?, _ reason: SkipReason) {
        func text(_ codes: AttributeCode...) -> String {
            for code in codes {
                let text: String? =
                    switch attributes?[code] {
                    case .text(let text)?: text
                    // The tag of a key is bytes, which most apps make of a name.
                    case .data(let bytes)?: String(validating: bytes, as: UTF8.self)
                    default: nil
                    }
                if let text { return String(text.unicodeScalars.prefix(Limits.skippedCharacters).map(Character.init)) }
            }
            return ""
        }
        self.init(
            itemClass: itemClass, group: text(.accessGroup), account: text(.account, .applicationTag),
            service: text(.service, .server),
            label: text(.label), reason: reason)
    }
}

/// The items that an export or import left out: the first ones in detail, and the number of all.
package struct SkippedItems: Equatable, Sendable {
    package private(set) var named: [SkippedItem] = []
    package private(set) var count: UInt64 = 0

    package init() {}

    package init(named: [SkippedItem], count: UInt64) { (self.named, self.count) = (named, count) }

    /// Counts an item, and adds its description while there are fewer than `Limits.skippedItems`.
    package mutating func add(_ item: SkippedItem) {
        count += 1
        if named.count < Limits.skippedItems { named.append(item) }
    }

    /// Adds the items of another list.
    ///
    /// - Parameter most: describes at most that many; a frame has no room for more than `Limits.skippedItems`.
    package mutating func add(_ other: SkippedItems, most: Int = Limits.skippedItems) {
        count += other.count
        named += other.named.prefix(max(0, most - named.count))
    }
}

extension FoundItem {
    /// Approximate size of the item in a frame, in bytes: attributes, secret and a fixed overhead.
    package var weight: Int {
        (attributes ?? [:]).values.reduce(256 + (secret?.count ?? 0)) { sum, value in
            switch value {
            case .text(let text): sum + text.utf8.count
            case .data(let data): sum + data.count
            case .number, .boolean, .date: sum
            }
        }
    }
}
