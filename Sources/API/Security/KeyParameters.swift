// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyCrypto
import LatchkeyModel

/// The key parameters in an app's dictionary; all functions that create keys read them through this type.
///
/// Ignores dictionary keys that do not concern a `SecKey`, as Apple's functions do. Throws `invalidParameter` for a
/// value of the wrong type.
struct KeyParameters {
    /// The type of a key before its size is known.
    enum Family {
        case rsa
        case ellipticCurve
    }

    let values: [String: Any]

    init(_ dictionary: NSDictionary) throws(Failure) {
        var values: [String: Any] = [:]
        for (key, value) in zip(dictionary.allKeys, dictionary.allValues) {
            guard let name = key as? String else { throw Self.refusal("A key of the dictionary is not a string.") }
            guard type(of: value) != NSNull.self else { throw Self.refusal("The value of \(name) is null.") }
            values[name] = value
        }
        self.values = values
        try check()
    }

    static func refusal(_ words: Phrase) -> Failure { Failure(.invalidParameter, words) }

    // MARK: - Type, class and size

    /// The value of a key as a string of decimal digits. Apple's constants are such strings; numbers are accepted too.
    private func digits(_ name: CFString) -> String? {
        let value = values[name as String]
        if let text = value as? String { return text }
        guard let number = value as? NSNumber, !isBoolean(number), let whole = Int(exactly: number.doubleValue) else {
            return nil
        }
        return String(whole)
    }

    func family() throws(Failure) -> Family {
        switch digits(kSecAttrKeyType) {
        case String(kSecAttrKeyTypeRSA): return .rsa
        case String(kSecAttrKeyTypeECSECPrimeRandom): return .ellipticCurve
        case nil: throw Self.refusal("kSecAttrKeyType is missing.")
        default: throw Self.refusal("kSecAttrKeyType is neither RSA nor elliptic curve.")
        }
    }

    /// Whether `kSecAttrKeyClass` names the private class; throws when it is missing or names neither half.
    func isPrivate() throws(Failure) -> Bool {
        switch digits(kSecAttrKeyClass) {
        case String(kSecAttrKeyClassPrivate): return true
        case String(kSecAttrKeyClassPublic): return false
        // Behaviour SK-11: the symmetric class is refused with -4, not with -50.
        case String(kSecAttrKeyClassSymmetric):
            throw Failure(.unimplemented, "A SecKey is a private or a public key, not a symmetric one.")
        case nil: throw Self.refusal("kSecAttrKeyClass is missing.")
        default: throw Self.refusal("kSecAttrKeyClass is neither public nor private.")
        }
    }

    /// The size in bits of the key to generate, from `kSecAttrKeySizeInBits`.
    func bitCount() throws(Failure) -> Int {
        guard values[kSecAttrKeySizeInBits as String] != nil else {
            throw Self.refusal("kSecAttrKeySizeInBits is missing.")
        }
        guard let digits = digits(kSecAttrKeySizeInBits), let count = Int(digits), count > 0 else {
            throw Self.refusal("kSecAttrKeySizeInBits takes a number.")
        }
        return count
    }

    func boolean(_ name: CFString) -> Bool? { (values[name as String] as? NSNumber)?.boolValue }

    /// Whether `kSecAttrTokenID` names the Secure Enclave; false for a key in memory, throws for any other token.
    func isForToken() throws(Failure) -> Bool {
        guard let token = values[kSecAttrTokenID as String] else { return false }
        guard token as? String == kSecAttrTokenIDSecureEnclave as String else {
            throw Self.refusal("kSecAttrTokenID takes kSecAttrTokenIDSecureEnclave.")
        }
        return true
    }

    // MARK: - Attributes

    /// The attributes of one half: those of the whole dictionary, overridden by those of the half's own dictionary.
    ///
    /// - Parameter name: `kSecPrivateKeyAttrs` or `kSecPublicKeyAttrs`.
    func half(_ name: CFString) throws(Failure) -> KeyParameters {
        var merged = values
        for part in [kSecPrivateKeyAttrs, kSecPublicKeyAttrs] { merged[part as String] = nil }
        if let part = values[name as String] as? NSDictionary { merged.merge(try KeyParameters(part).values) { $1 } }
        return try KeyParameters(merged as NSDictionary)
    }

    /// The attributes that `SecKeyCopyAttributes` reports; `kSecAttrIsPermanent` is not one of them (behaviour SK-11).
    var reported: [String: Any] {
        // Copied: the app may change a mutable string or mutable data later, on any thread.
        values.filter { Self.kinds[$0.key]?.isReported ?? false }
            .mapValues { ($0 as? NSString)?.copy() ?? ($0 as? NSData)?.copy() ?? $0 }
    }

    /// The dictionary for storing the key, with `kSecAttrIsPermanent` set to the given value.
    func dictionary(isPermanent: Bool) -> NSDictionary {
        values.merging([kSecAttrIsPermanent as String: NSNumber(value: isPermanent)]) { $1 } as NSDictionary
    }

    private struct Kind {
        let words: String
        var isReported = true
        let accepts: (Any) -> Bool
    }

    nonisolated(unsafe) private static let kinds: [String: Kind] = {
        // Immutable after initialisation; the compiler cannot verify that because of the closures.
        let boolean = Kind(words: "a Boolean") { booleanValue($0) != nil }
        // Behaviour KC-21: attributes stored as text or bytes accept strings, Data and whole numbers.
        let bytes = Kind(words: "Data, a string or a whole number") { value in
            value is String || value is NSData
                || (value as? NSNumber).map { !isBoolean($0) && Int64(exactly: $0) != nil } ?? false
        }
        let text = Kind(words: "a string") { $0 is String }
        let part = Kind(words: "a dictionary", isReported: false) { $0 is NSDictionary }
        var kinds: [CFString: Kind] = [
            kSecAttrLabel: bytes, kSecAttrApplicationTag: bytes, kSecAttrApplicationLabel: bytes,
            kSecAttrAccessGroup: text, kSecPrivateKeyAttrs: part, kSecPublicKeyAttrs: part,
            kSecAttrAccessControl: Kind(words: "a SecAccessControl") { $0 is SecAccessControl },
            kSecAttrAccessible: Kind(words: "one of the kSecAttrAccessible... values") {
                ($0 as? String).flatMap(Accessibility.init(constant:)) != nil
            },
        ]
        for name in [
            kSecAttrIsPermanent, kSecAttrIsExtractable, kSecAttrIsSensitive, kSecAttrSynchronizable, kSecAttrCanEncrypt,
            kSecAttrCanDecrypt, kSecAttrCanDerive, kSecAttrCanSign, kSecAttrCanVerify, kSecAttrCanWrap,
            kSecAttrCanUnwrap,
        ] {
            kinds[name] = boolean
        }
        kinds[kSecAttrIsPermanent]?.isReported = false
        return Dictionary(uniqueKeysWithValues: kinds.map { ($0.key as String, $0.value) })
    }()

    private func check() throws(Failure) {
        for (name, value) in values {
            guard let kind = Self.kinds[name], !kind.accepts(value) else { continue }
            throw Self.refusal("\(name) takes \(kind.words).")
        }
    }
}
