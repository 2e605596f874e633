// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyCrypto
import LatchkeyModel

/// One half of a new pair that was just stored in the keychain. It is removed when the other half cannot be stored.
struct StoredHalf {
    private let reference: [UInt8]
    private let access: KeychainAccess

    /// Stores a key with the app's attributes. Blocks until the item is durable.
    init(_ key: SecKey, attributes: NSDictionary) throws(Failure) {
        let query = try ParsedQuery(ofNewKey: attributes)
        access = try KeychainAccess(query)
        let request = try NewItem(key).with(query).request(.persistentReference, try access.authentication())
        guard let reference = try access.client().call(request).first?.persistentReference else {
            throw .unexpectedReply
        }
        self.reference = reference
    }

    /// A private key that the daemon generated in the Secure Enclave and stored; nil for any other key.
    init?(madeInToken key: SecKey) {
        guard let enclave = key.backing as? EnclaveKeyBacking, case .stored(let reference) = enclave.name else {
            return nil
        }
        (self.reference, access) = (reference, enclave.access)
    }

    /// Deletes the item again; a failure to do so is ignored, because the caller reports the first failure.
    func remove() { try? access.delete(reference) }
}

/// Generates a P-256 key whose private half stays in the Secure Enclave.
///
/// - Parameters:
///   - privateAttributes: the attributes of the private half; it is stored unless `kSecAttrIsPermanent` is false.
///   - publicAttributes: the attributes that the public half reports.
func createInToken(privateAttributes: NSDictionary, publicAttributes: NSDictionary) throws(Failure) -> SecKey {
    let query = try ParsedQuery(ofNewKey: privateAttributes)
    let isPermanent = (privateAttributes[kSecAttrIsPermanent as String] as? NSNumber)?.boolValue ?? true
    // Without an access control, every program in the item's access group may use the key.
    let control =
        query.accessControl
        ?? AccessControl(accessibility: query.accessibility ?? .whenUnlocked, constraints: .privateKeyUsage)
    let access = try KeychainAccess(query)
    let request = Request.CreateEnclaveKey(
        attributes: query.attributes, accessControl: control, isPermanent: isPermanent,
        authentication: try access.authentication())
    return try SecKey(
        access.client().call(request), access, publicAttributes: publicAttributes as? [String: Any] ?? [:])
}

extension SecKey {
    /// A key of the Secure Enclave, from the daemon's description of it.
    convenience init(
        _ key: EnclaveKey, _ access: KeychainAccess, publicAttributes: [String: Any] = [:]
    ) throws(Failure) {
        guard let publicKey = PublicKey(point: key.publicKey) else {
            throw Failure(.internalFailure, "The daemon's reply has no valid public key.")
        }
        self.init(
            EnclaveKeyBacking(name: key.name, publicKey: publicKey, access: access),
            attributes: FoundItem(itemClass: .key, attributes: key.attributes, accessControl: key.accessControl)
                .attributesOfKey,
            publicAttributes: publicAttributes)
    }
}

extension ParsedQuery {
    /// Reads the part of an app's dictionary that says how to store a key; `KeyParameters` reads the key's own
    /// parameters.
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
