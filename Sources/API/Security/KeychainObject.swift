// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel

/// A value of `kSecValueRef`: an object that identifies items in the keychain.
enum KeychainObject {
    case key(SecKey)
    case certificate(SecCertificate)
    case identity(SecIdentity)

    init?(_ value: Any) {
        switch value {
        case let key as SecKey: self = .key(key)
        case let certificate as SecCertificate: self = .certificate(certificate)
        case let identity as SecIdentity: self = .identity(identity)
        default: return nil
        }
    }

    /// The class of the object's item; nil for an identity, which consists of two items.
    var itemClass: ItemClass? {
        switch self {
        case .key: .key
        case .certificate: .certificate
        case .identity: nil
        }
    }

    /// The items to add. An identity's key comes first, so that a failure never leaves a certificate without its key.
    func newItems() throws(Failure) -> [NewItem] {
        switch self {
        case .key(let key): [try NewItem(key)]
        case .certificate(let certificate): [try NewItem(certificate)]
        case .identity(let identity): [try NewItem(identity.privateKey), try NewItem(identity.certificate)]
        }
    }

    /// Adds the attributes that identify the object to a query; throws `itemNotFound` when they contradict the query's,
    /// and for a key of the Secure Enclave that is not in the keychain.
    func narrow(_ query: inout ParsedQuery) throws(Failure) {
        switch self {
        case .key(let key):
            if let enclave = key.backing as? EnclaveKeyBacking {
                guard case .stored = enclave.name else {
                    throw Failure(.itemNotFound, "The key is not in the keychain.")
                }
                try add([.publicKey: .data(enclave.publicKey.externalRepresentation)], &query)
            } else {
                try add(try NewItem(key).identity, &query)
            }
        case .certificate(let certificate): try add(try NewItem(certificate).identity, &query)
        case .identity(let identity): try add(try NewItem(identity.certificate).identity, &query)
        }
    }

    private func add(_ identity: Attributes, _ query: inout ParsedQuery) throws(Failure) {
        guard query.attributes.add(identity) else {
            throw Failure(.itemNotFound, "The object in kSecValueRef does not have the query's attributes.")
        }
    }
}

extension Attributes {
    /// Merges the attributes of a query; returns false when one of them is present with a different value.
    mutating func add(_ others: Attributes) -> Bool {
        for (code, value) in others {
            if let own = self[code], !own.counts(as: value) { return false }
            self[code] = value
        }
        return true
    }
}
