// SPDX-License-Identifier: Apache-2.0

/// The type of an attribute's value.
package enum AttributeKind: Sendable {
    case text, data, number, boolean, date
}

/// An attribute of an item. Raw values are part of the wire format and of the store format.
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
    /// The token that holds a private key (`kSecAttrTokenID`).
    case tokenID = 35
    /// The public key, in X9.63 format, of a private key in a token. Internal: apps neither set nor read it.
    case publicKey = 36
    // Certificates.
    case certificateType = 37
    case certificateEncoding = 38
    case subject = 39
    case issuer = 40
    case serialNumber = 41
    case subjectKeyID = 42
    case publicKeyHash = 43
    // Items of the Secret Service.
    /// The identifier of the collection.
    case collection = 44
    case identifier = 45
    case contentType = 46
    /// The encoded `SecretPairs`.
    case pairs = 47
    /// The program that stored the item, or to which an answer was given.
    case owner = 48

    /// The type of this attribute's value.
    package var kind: AttributeKind {
        switch self {
        case .accessGroup, .account, .service, .itemDescription, .comment, .label, .server, .securityDomain,
            .networkProtocol, .authenticationType, .path, .tokenID, .collection, .identifier, .contentType, .owner:
            .text
        case .generic, .applicationLabel, .applicationTag, .publicKey, .subject, .issuer, .serialNumber, .subjectKeyID,
            .publicKeyHash, .pairs:
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
    /// Whether a number is accepted where text or data is expected; never for attributes that decide access.
    package var takesNumbers: Bool {
        switch self {
        case .accessGroup, .tokenID, .publicKey, .collection, .identifier, .contentType, .pairs, .owner: false
        default: kind == .text || kind == .data
        }
    }

    /// Whether text is accepted where a number or a Boolean is expected; only for attributes that Latchkey does not
    /// interpret.
    package var storesText: Bool {
        switch self {
        case .creator, .type, .port, .isInvisible, .isNegative: true
        default: false
        }
    }
}

package enum AttributeValue: Hashable, Sendable {
    case text(String)
    case data([UInt8])
    case number(Int64)
    case boolean(Bool)
    /// Microseconds since 1970-01-01 00:00 UTC.
    case date(Int64)

    /// Returns whether `code` accepts this value.
    ///
    /// As on Apple systems (behaviour KC-21), an attribute also accepts values of some other types: text is accepted as
    /// data, data as text except for an access group, numbers according to `takesNumbers`, and text as a number or a
    /// Boolean according to `storesText`.
    package func fits(_ code: AttributeCode) -> Bool {
        switch (self, code.kind) {
        case (.text, .text), (.data, .data), (.number, .number), (.boolean, .boolean), (.date, .date): true
        case (.text, .data): true
        case (.data, .text): code != .accessGroup
        case (.number, .text), (.number, .data): code.takesNumbers
        case (.text, .number), (.text, .boolean): code.storesText
        default: false
        }
    }

    /// The form in which values are compared: text becomes its UTF-8 bytes.
    ///
    /// Text therefore equals data with the same bytes, and two texts that are canonically equivalent but encoded
    /// differently are not equal.
    package var compared: AttributeValue { if case .text(let text) = self { .data(Array(text.utf8)) } else { self } }

    /// Returns whether both values are equal in their `compared` form.
    package func counts(as other: AttributeValue) -> Bool {
        if case .text(let mine) = self, case .text(let others) = other { return mine.hasBytes(of: others) }
        return compared == other.compared
    }
}
