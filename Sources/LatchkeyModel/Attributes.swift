// SPDX-License-Identifier: Apache-2.0

/// The class of a keychain item. Numbers are part of the wire and the store format.
package enum ItemClass: UInt8, CaseIterable, Sendable {
    /// `kSecClassGenericPassword`.
    case genericPassword = 1
    /// `kSecClassInternetPassword`.
    case internetPassword = 2
}

/// What kind of value an attribute takes.
package enum AttributeKind: Sendable {
    case text, data, number, boolean, date
}

/// One attribute of an item. Numbers are part of the wire and the store format.
package enum AttributeCode: UInt8, CaseIterable, Sendable {
    case accessGroup = 1
    case account = 2
    case service = 3
    case synchronizable = 4
    case creationDate = 5
    case modificationDate = 6
    case itemDescription = 7
    case comment = 8
    case creator = 9
    case type = 10
    case label = 11
    case isInvisible = 12
    case isNegative = 13
    case generic = 14
    case server = 15
    case securityDomain = 16
    case networkProtocol = 17
    case authenticationType = 18
    case port = 19
    case path = 20

    /// The kind of its value.
    package var kind: AttributeKind {
        switch self {
        case .accessGroup, .account, .service, .itemDescription, .comment, .label, .server, .securityDomain,
            .networkProtocol, .authenticationType, .path:
            .text
        case .generic: .data
        case .creator, .type, .port: .number
        case .synchronizable, .isInvisible, .isNegative: .boolean
        case .creationDate, .modificationDate: .date
        }
    }
}

/// The value of an attribute.
package enum AttributeValue: Hashable, Sendable {
    case text(String)
    case data([UInt8])
    case number(Int64)
    case boolean(Bool)
    /// Microseconds since 1970-01-01 00:00 UTC.
    case date(Int64)

    /// Whether the value may stand for `code`. Text and data stand for each other, as on Apple systems, except in the
    /// name of a group.
    package func fits(_ code: AttributeCode) -> Bool {
        switch (self, code.kind) {
        case (.text, .text), (.data, .data), (.number, .number), (.boolean, .boolean), (.date, .date): true
        case (.text, .data): true
        case (.data, .text): code != .accessGroup
        default: false
        }
    }

    /// What values are compared by: text counts as its bytes, so that it equals data of the same bytes, and two texts
    /// that only look the same differ.
    package var compared: AttributeValue {
        if case .text(let text) = self { .data(Array(text.utf8)) } else { self }
    }
}

/// The attributes of an item or of a query.
package typealias Attributes = [AttributeCode: AttributeValue]

extension ItemClass {
    /// The attributes that make an item of this class unique, in the order of the blind index.
    package var primaryKey: [AttributeCode] {
        switch self {
        case .genericPassword: [.accessGroup, .account, .service, .synchronizable]
        case .internetPassword:
            [
                .accessGroup, .account, .securityDomain, .server, .networkProtocol, .authenticationType, .port, .path,
                .synchronizable,
            ]
        }
    }

    /// The attributes with a blind index of their own, besides the access group.
    package var indexed: [AttributeCode] {
        switch self {
        case .genericPassword: [.account, .service, .label]
        case .internetPassword: [.account, .server, .label]
        }
    }

    /// Whether items of this class have the attribute.
    package func has(_ code: AttributeCode) -> Bool {
        switch self {
        case .genericPassword: !Self.ofTheInternet.contains(code)
        case .internetPassword: code != .service && code != .generic
        }
    }

    private static let ofTheInternet: Set<AttributeCode> = [
        .server, .securityDomain, .networkProtocol, .authenticationType, .port, .path,
    ]

    /// What a primary-key attribute counts as when it was not given.
    package static func emptyValue(_ code: AttributeCode) -> AttributeValue {
        switch code.kind {
        case .text: .text("")
        case .data: .data([])
        case .number: .number(0)
        case .boolean: .boolean(false)
        case .date: .date(0)
        }
    }
}
