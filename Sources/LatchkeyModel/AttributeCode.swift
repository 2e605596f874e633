// SPDX-License-Identifier: Apache-2.0

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
    // Keys.
    case keyClass = 21
    case applicationLabel = 22
    case applicationTag = 23
    case keyType = 24
    case keySizeInBits = 25
    case effectiveKeySize = 26
    case isPermanent = 27
    case canEncrypt = 28
    case canDecrypt = 29
    case canDerive = 30
    case canSign = 31
    case canVerify = 32
    case canWrap = 33
    case canUnwrap = 34
    /// The token that holds a private key.
    case tokenID = 35
    /// The public half of a key in a token, X9.63; no app gives it or sees it as an attribute.
    case publicKey = 36
    // Certificates.
    case certificateType = 37
    case certificateEncoding = 38
    case subject = 39
    case issuer = 40
    case serialNumber = 41
    case subjectKeyID = 42
    case publicKeyHash = 43

    /// The kind of its value.
    package var kind: AttributeKind {
        switch self {
        case .accessGroup, .account, .service, .itemDescription, .comment, .label, .server, .securityDomain,
            .networkProtocol, .authenticationType, .path, .tokenID:
            .text
        case .generic, .applicationLabel, .applicationTag, .publicKey, .subject, .issuer, .serialNumber, .subjectKeyID,
            .publicKeyHash:
            .data
        case .creator, .type, .port, .keyClass, .keyType, .keySizeInBits, .effectiveKeySize, .certificateType,
            .certificateEncoding:
            .number
        case .synchronizable, .isInvisible, .isNegative, .isPermanent, .canEncrypt, .canDecrypt, .canDerive, .canSign,
            .canVerify, .canWrap, .canUnwrap:
            .boolean
        case .creationDate, .modificationDate: .date
        }
    }
}

extension AttributeCode {
    /// Whether a number may stand for text or data. It may not in names that access is decided by.
    package var takesNumbers: Bool {
        switch self {
        case .accessGroup, .tokenID, .publicKey: false
        default: kind == .text || kind == .data
        }
    }

    /// Whether text that is no number may stand for a number or a Boolean: in what only apps read.
    package var keepsText: Bool {
        switch self {
        case .creator, .type, .port, .isInvisible, .isNegative: true
        default: false
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

    /// Whether the value may stand for `code`: text, data and numbers stand for each other as on Apple systems (behaviour
    /// KC-21), except where the value decides who may use an item.
    package func fits(_ code: AttributeCode) -> Bool {
        switch (self, code.kind) {
        case (.text, .text), (.data, .data), (.number, .number), (.boolean, .boolean), (.date, .date): true
        case (.text, .data): true
        case (.data, .text): code != .accessGroup
        case (.number, .text), (.number, .data): code.takesNumbers
        case (.text, .number), (.text, .boolean): code.keepsText
        default: false
        }
    }

    /// What values are compared by: text counts as its bytes, so that it equals data of the same bytes, and two texts
    /// that only look the same differ.
    package var compared: AttributeValue {
        if case .text(let text) = self { .data(Array(text.utf8)) } else { self }
    }

    /// Whether both count as the same value when compared.
    package func counts(as other: AttributeValue) -> Bool {
        if case .text(let mine) = self, case .text(let others) = other { return mine.utf8.elementsEqual(others.utf8) }
        return compared == other.compared
    }
}
