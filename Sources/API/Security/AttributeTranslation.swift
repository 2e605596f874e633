// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel

extension AttributeCode {
    private static let constants: [(String, AttributeCode)] = [
        (kSecAttrAccessGroup as String, .accessGroup), (kSecAttrAccount as String, .account),
        (kSecAttrService as String, .service), (kSecAttrSynchronizable as String, .synchronizable),
        (kSecAttrCreationDate as String, .creationDate), (kSecAttrModificationDate as String, .modificationDate),
        (kSecAttrDescription as String, .itemDescription), (kSecAttrComment as String, .comment),
        (kSecAttrCreator as String, .creator), (kSecAttrType as String, .type), (kSecAttrLabel as String, .label),
        (kSecAttrIsInvisible as String, .isInvisible), (kSecAttrIsNegative as String, .isNegative),
        (kSecAttrGeneric as String, .generic), (kSecAttrServer as String, .server),
        (kSecAttrSecurityDomain as String, .securityDomain), (kSecAttrProtocol as String, .networkProtocol),
        (kSecAttrAuthenticationType as String, .authenticationType), (kSecAttrPort as String, .port),
        (kSecAttrPath as String, .path),
        // Keys.
        (kSecAttrKeyClass as String, .keyClass), (kSecAttrApplicationLabel as String, .applicationLabel),
        (kSecAttrApplicationTag as String, .applicationTag), (kSecAttrKeySizeInBits as String, .keySizeInBits),
        (kSecAttrEffectiveKeySize as String, .effectiveKeySize), (kSecAttrIsPermanent as String, .isPermanent),
        (kSecAttrCanEncrypt as String, .canEncrypt), (kSecAttrCanDecrypt as String, .canDecrypt),
        (kSecAttrCanDerive as String, .canDerive), (kSecAttrCanSign as String, .canSign),
        (kSecAttrCanVerify as String, .canVerify), (kSecAttrCanWrap as String, .canWrap),
        (kSecAttrCanUnwrap as String, .canUnwrap), (kSecAttrTokenID as String, .tokenID),
        // Certificates.
        (kSecAttrCertificateType as String, .certificateType),
        (kSecAttrCertificateEncoding as String, .certificateEncoding), (kSecAttrSubject as String, .subject),
        (kSecAttrIssuer as String, .issuer), (kSecAttrSerialNumber as String, .serialNumber),
        (kSecAttrSubjectKeyID as String, .subjectKeyID), (kSecAttrPublicKeyHash as String, .publicKeyHash),
    ]
    private static let byName = Dictionary(uniqueKeysWithValues: constants)
    private static let byCode = Dictionary(uniqueKeysWithValues: constants.map { ($0.1, $0.0) })

    /// The attribute that a `kSecAttr...` string names for items of a class; nil for an unknown string. The class is
    /// needed because `kSecAttrType` and `kSecAttrKeyType` share the string `type`.
    init?(constant: String, in itemClass: ItemClass?) {
        guard let code = AttributeCode.byName[constant] else { return nil }
        self = code == .type && itemClass == .key ? .keyType : code
    }

    /// The `kSecAttr...` string; nil for internal attributes.
    var constant: String? { self == .keyType ? AttributeCode.byCode[.type] : AttributeCode.byCode[self] }
}

extension ItemClass {
    /// The value of `kSecClass` for this class; nil for the one that Apple's API does not have.
    var constant: CFString? {
        switch self {
        case .genericPassword: kSecClassGenericPassword
        case .internetPassword: kSecClassInternetPassword
        case .key: kSecClassKey
        case .certificate: kSecClassCertificate
        case .secret: nil
        }
    }
}

extension AttributeCode {
    fileprivate var takesDigits: Bool {
        switch self {
        case .keyClass, .keyType, .keySizeInBits, .effectiveKeySize, .certificateType, .certificateEncoding: true
        default: false
        }
    }
}

extension AttributeValue {
    /// Converts a value from an app's dictionary; throws `invalidParameter` for a wrong type and `dataTooLarge` for
    /// more than `Limits.attributeBytes`.
    init(_ value: Any, for code: AttributeCode, _ name: String) throws(Failure) {
        switch code.kind {
        case .text, .data:
            // Published wrappers pass strings and Data interchangeably; the value has the type that the app passed.
            if let text = stringValue(value) {
                self = .text(text)
            } else if let data = value as? NSData, code != .accessGroup {
                self = .data(data.withUnsafeBytes { Array($0) })
            } else if code.takesNumbers, let number = value as? NSNumber, !isBoolean(number),
                let whole = Int64(exactly: number)
            {
                self = .number(whole)
            } else {
                throw ParsedQuery.refusal(
                    "\(name) takes a string\(code.takesNumbers ? ", Data or a whole number" : code == .accessGroup ? "" : " or Data")."
                )
            }
        case .number where code.takesDigits && value is NSString:
            // Apple's constants for key types and key classes are strings of decimal digits.
            guard let text = value as? String, let number = Int64(text) else {
                throw ParsedQuery.refusal("\(name) takes a number.")
            }
            self = .number(number)
        case .number, .boolean:
            guard let value = AttributeValue(number: value, for: code) else {
                throw ParsedQuery.refusal("\(name) takes a \(code.kind == .number ? "number" : "Boolean").")
            }
            self = value
        case .date:
            guard let date = value as? Date else { throw ParsedQuery.refusal("\(name) takes a date.") }
            let micros = (date.timeIntervalSince1970 * 1_000_000).rounded()
            guard let whole = Int64(exactly: micros) else { throw ParsedQuery.refusal("\(name) is out of range.") }
            self = .date(whole)
        }
        guard byteCount <= Limits.attributeBytes else {
            throw Failure(.dataTooLarge, "\(name) is larger than \(Limits.attributeBytes) bytes.")
        }
    }

    /// A value of a numeric or Boolean attribute (behaviour KC-21): a string that is exactly a decimal 32-bit integer
    /// is converted to that number; any other string is stored as text where `storesText` allows it, else nil.
    private init?(number value: Any, for code: AttributeCode) {
        let isFlag = code.kind == .boolean
        if let number = value as? NSNumber {
            guard !isFlag else {
                self = .boolean(number.boolValue)
                return
            }
            // A part of a number must not be lost without an error.
            guard let whole = Int64(exactly: number) else { return nil }
            self = .number(whole)
        } else if let text = value as? String, let number = Int32(text), String(number) == text {
            self = isFlag ? .boolean(number != 0) : .number(Int64(number))
        } else if let text = value as? String, code.storesText {
            self = .text(text)
        } else {
            return nil
        }
    }

    private var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .data(let data): data.count
        case .number, .boolean, .date: 8
        }
    }

    /// The Foundation object that is returned to the app.
    var object: AnyObject {
        switch self {
        case .text(let text): text as NSString
        case .data(let data): Data(data) as NSData
        case .number(let number): NSNumber(value: number)
        case .boolean(let flag): NSNumber(value: flag)
        case .date(let micros): NSDate(timeIntervalSince1970: Double(micros) / 1_000_000)
        }
    }
}
