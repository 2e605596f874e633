// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel

/// What `kSecValueRef` takes: an object that stands for items of the keychain.
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

    /// The class of its items; nil for an identity, which has two.
    var itemClass: ItemClass? {
        switch self {
        case .key: .key
        case .certificate: .certificate
        case .identity: nil
        }
    }

    /// The items to add: of an identity the key first, so that a certificate without its key is never left behind.
    func newItems() throws(Failure) -> [NewItem] {
        switch self {
        case .key(let key): [try NewItem(key)]
        case .certificate(let certificate): [try NewItem(certificate)]
        case .identity(let identity): [try NewItem(identity.privateKey), try NewItem(identity.certificate)]
        }
    }

    /// What finds it.
    func narrow(_ query: inout ParsedQuery) throws(Failure) {
        switch self {
        case .key(let key):
            if let enclave = key.backing as? EnclaveKeyBacking {
                guard case .stored(let reference) = enclave.name else {
                    throw Failure(.itemNotFound, "The key is not in the keychain.")
                }
                query.persistentReference = reference
                query.attributes = [:]
            } else {
                let identity = try NewItem(key).identity
                query.attributes.merge(identity)
            }
        case .certificate(let certificate): query.attributes.merge(try NewItem(certificate).identity)
        case .identity(let identity): query.attributes.merge(try NewItem(identity.certificate).identity)
        }
    }
}
