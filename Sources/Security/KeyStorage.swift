// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKeys
import LatchkeyModel

/// A key that was just put into the keychain.
struct StoredHalf {
    private let reference: [UInt8]
    private let access: KeychainAccess

    /// Stores a key under the attributes that the app gave. Blocks until it is durable.
    init(_ key: SecKey, attributes: NSDictionary) throws(Failure) {
        let query = try ParsedQuery(ofNewKey: attributes)
        access = try KeychainAccess(query)
        let request = try NewItem(key).with(query).request(.persistentReference, try access.authentication())
        guard case .items(let items, _) = try access.client().call(.addItem(request)),
            let reference = items.first?.persistentReference
        else { throw Failure(.internalFailure, "The daemon's answer is of another kind.") }
        self.reference = reference
    }

    /// A key that was made where it stays; nil when the keychain does not hold it.
    init?(madeInToken key: SecKey) {
        guard let enclave = key.backing as? EnclaveKeyBacking, case .stored(let reference) = enclave.name else {
            return nil
        }
        (self.reference, access) = (reference, enclave.access)
    }

    /// Takes it out again, as far as that can be done.
    func remove() { try? access.delete(reference) }
}

/// Makes a P-256 key whose private half stays in the Secure Enclave.
///
/// - Parameters:
///   - privateAttributes: what the app said of the private half; `kSecAttrIsPermanent` is there, by default true.
///   - publicAttributes: what it said of the public half.
func createInToken(privateAttributes: NSDictionary, publicAttributes: NSDictionary) throws(Failure) -> SecKey {
    let query = try ParsedQuery(ofNewKey: privateAttributes)
    let isPermanent = (privateAttributes[kSecAttrIsPermanent as String] as? NSNumber)?.boolValue ?? true
    // Without an access control a key may be used by whoever may read the app's items.
    let control =
        query.accessControl
        ?? AccessControl(accessibility: query.accessibility ?? .whenUnlocked, constraints: .privateKeyUsage)
    let access = try KeychainAccess(query)
    let request = Request.CreateEnclaveKey(
        attributes: query.attributes, accessControl: control, isPermanent: isPermanent,
        authentication: try access.authentication())
    guard case .enclaveKey(let made) = try access.client().call(.createEnclaveKey(request)) else {
        throw Failure(.internalFailure, "The daemon's answer is of another kind.")
    }
    return try SecKey(made, access, publicAttributes: publicAttributes as? [String: Any] ?? [:])
}

extension SecKey {
    /// A key of the Secure Enclave as the daemon describes it.
    convenience init(
        _ key: EnclaveKey, _ access: KeychainAccess, publicAttributes: [String: Any] = [:]
    ) throws(Failure) {
        guard let publicKey = PublicKey(point: key.publicKey) else {
            throw Failure(.internalFailure, "The daemon's answer holds no public key.")
        }
        self.init(
            EnclaveKeyBacking(name: key.name, publicKey: publicKey, access: access),
            attributes: FoundItem(itemClass: .key, attributes: key.attributes, accessControl: key.accessControl)
                .attributesOfKey,
            publicAttributes: publicAttributes)
    }
}

extension ParsedQuery {
    /// What a dictionary of an app says about storing a key; what concerns the key itself is read elsewhere.
    init(ofNewKey dictionary: NSDictionary) throws(Failure) {
        let names: Set<String> = Set(
            [
                kSecAttrLabel, kSecAttrApplicationTag, kSecAttrApplicationLabel, kSecAttrAccessGroup,
                kSecAttrSynchronizable, kSecAttrAccessControl, kSecAttrAccessible, kSecAttrCanEncrypt,
                kSecAttrCanDecrypt, kSecAttrCanDerive, kSecAttrCanSign, kSecAttrCanVerify, kSecAttrCanWrap,
                kSecAttrCanUnwrap, kSecUseAuthenticationContext, kSecUseAuthenticationUI,
            ].map { $0 as String } + [QueryName.useOperationPrompt])
        let chosen = NSMutableDictionary()
        for (key, value) in zip(dictionary.allKeys, dictionary.allValues) {
            if let name = key as? String, names.contains(name) { chosen[name] = value }
        }
        try self.init(chosen, itemClass: .key)
        guard !anySynchronizable, !skipsProtected else { throw ParsedQuery.refusal("A new key takes no search key.") }
    }
}
