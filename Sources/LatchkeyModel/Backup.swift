// SPDX-License-Identifier: Apache-2.0

/// Why an item is in no backup, or is not taken from one. Numbers are part of the wire format.
package enum StayReason: UInt8, CaseIterable, Sendable {
    /// Its class is bound to this device.
    case thisDeviceOnly = 1
    /// It is a private key that never leaves its token.
    case inToken = 2
    /// A password of the app's own protects it, which the daemon does not have.
    case applicationPassword = 3
    /// Its rule asks for something that another machine cannot ask for.
    case boundRule = 4
    /// It cannot be read here.
    case unreadable = 5
    /// It is larger than a record of a backup.
    case tooLarge = 6
    /// It belongs to another app, and no passcode is set that its owner could give.
    case foreignGroup = 7

    /// What a person reads.
    package var words: String {
        switch self {
        case .thisDeviceOnly: "its class is bound to this device"
        case .inToken: "it is a private key of the enclave"
        case .applicationPassword: "a password of the app protects it"
        case .boundRule: "its rule is bound to this device"
        case .unreadable: "it cannot be read"
        case .tooLarge: "it is too large for a backup"
        case .foreignGroup: "it belongs to another app, and no passcode is set"
        }
    }
}

/// An item that stays, as listing shows it.
package struct StayingItem: Equatable, Sendable {
    package var itemClass: ItemClass
    package var group: String
    package var account: String
    /// The service of a password, or the server of an internet password.
    package var service: String
    package var label: String
    package var reason: StayReason

    /// Makes one.
    package init(
        itemClass: ItemClass, group: String, account: String, service: String, label: String, reason: StayReason
    ) {
        self.itemClass = itemClass
        self.group = group
        self.account = account
        self.service = service
        self.label = label
        self.reason = reason
    }

    /// Names an item by its attributes; nothing is known of one that cannot be read. Texts are cut to fit a frame.
    package init(_ itemClass: ItemClass, _ attributes: Attributes?, _ reason: StayReason) {
        func text(_ codes: AttributeCode...) -> String {
            for code in codes {
                if case .text(let text)? = attributes?[code] {
                    return String(text.unicodeScalars.prefix(Limits.stayingCharacters).map(Character.init))
                }
            }
            return ""
        }
        self.init(
            itemClass: itemClass, group: text(.accessGroup), account: text(.account), service: text(.service, .server),
            label: text(.label), reason: reason)
    }
}

/// Items that stay: some by name, and how many in all.
package struct StayingItems: Equatable, Sendable {
    package private(set) var named: [StayingItem] = []
    package private(set) var count: UInt64 = 0

    /// None so far.
    package init() {}

    /// What a frame holds.
    package init(named: [StayingItem], count: UInt64) {
        self.named = named
        self.count = count
    }

    /// Counts one more, and names it while there is room in a frame.
    package mutating func add(_ item: StayingItem) {
        count += 1
        if named.count < Limits.stayingItems { named.append(item) }
    }
}

extension FoundItem {
    /// Bytes it takes in a frame, about: attributes count as its secret does.
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
