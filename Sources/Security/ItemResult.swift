// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyCertificates
import LatchkeyKeys
import LatchkeyModel

extension Returns {
    /// What has to be asked for so that the objects of `kSecReturnRef` can be made.
    func wanted(of itemClass: ItemClass?) -> Returns {
        switch itemClass {
        case .genericPassword, .internetPassword: self
        // A certificate is public, and its bytes are the certificate.
        case .certificate, nil: contains(.reference) ? union([.data, .attributes, .persistentReference]) : self
        case .key where contains(.reference): union([.data, .attributes, .persistentReference])
        // Attributes tell which keys have no bytes to give.
        case .key: contains(.data) ? union(.attributes) : self
        }
    }
}

extension FoundItem {
    /// The object an app gets for one item, by what it asked for; nil for a reference that there is none of.
    ///
    /// Throws `exportNotAllowed` when nothing but the bytes of a key was asked for that never leaves its place.
    func result(_ returns: Returns, _ access: KeychainAccess) throws(Failure) -> AnyObject? {
        switch returns {
        case .data:
            guard !isInToken else {
                throw Failure(.exportNotAllowed, "A private key of the Secure Enclave never leaves it.")
            }
            return data ?? NSData()
        case .persistentReference: return persistentReference.map { Data($0) as NSData }
        case .reference: return reference(access)
        default: return dictionary(returns, access)
        }
    }

    /// The key or the certificate; passwords have no such object, nor has a key of a kind that is not computed with.
    func reference(_ access: KeychainAccess) -> AnyObject? {
        switch itemClass {
        case .genericPassword, .internetPassword: return nil
        case .certificate: return secret.flatMap { Certificate(der: $0.copyBytes()) }.map { SecCertificate($0) }
        case .key:
            guard let attributes else { return nil }
            guard isInToken else {
                return secret.flatMap { SecKey(stored: attributes, $0, reporting: attributesOfKey) }
            }
            guard let persistentReference, let accessControl,
                case .data(let publicKey) = attributes[.publicKey] ?? .data([])
            else { return nil }
            return try? SecKey(
                EnclaveKey(
                    name: .stored(persistentReference), publicKey: publicKey, attributes: attributes,
                    accessControl: accessControl), access)
        }
    }

    private var isInToken: Bool { attributes?[.tokenID] != nil }

    private var data: NSData? { secret.map { secret in secret.withBytes { Data($0) } as NSData } }

    /// What a key made of this item reports of itself.
    var attributesOfKey: [String: Any] {
        // The rest follows from the key.
        let reported: Set<AttributeCode> = [
            .label, .applicationTag, .applicationLabel, .accessGroup, .synchronizable, .isPermanent, .canEncrypt,
            .canDecrypt, .canDerive, .canSign, .canVerify, .canWrap, .canUnwrap,
        ]
        return dictionary(attributes?.filter { reported.contains($0.key) })
    }

    /// All attributes under the names apps know.
    var dictionary: [String: Any] { dictionary(attributes) }

    private func dictionary(_ attributes: Attributes?) -> [String: Any] {
        var result: [String: Any] = [:]
        for (code, value) in attributes ?? [:] {
            if let name = code.constant { result[name] = value.object }
        }
        if let accessControl {
            result[kSecAttrAccessible as String] = accessControl.accessibility.constant as NSString
            result[kSecAttrAccessControl as String] = SecAccessControl(accessControl)
        }
        return result
    }

    private func dictionary(_ returns: Returns, _ access: KeychainAccess) -> NSDictionary {
        var result = returns.contains(.attributes) ? dictionary : [:]
        if returns.contains(.reference) {
            result[kSecClass as String] = itemClass.constant
            result[kSecValueRef as String] = reference(access)
        }
        if returns.contains(.data), let data { result[kSecValueData as String] = data }
        if returns.contains(.persistentReference), let persistentReference {
            result[kSecValuePersistentRef as String] = Data(persistentReference) as NSData
        }
        return result as NSDictionary
    }
}

extension SecKey {
    /// A key as it was stored; nil when attributes and bytes are those of no key that is computed with.
    convenience init?(stored attributes: Attributes, _ bytes: SecretBytes, reporting reported: [String: Any] = [:]) {
        switch StoredKey(attributes, bytes) {
        case .publicKey(let key): self.init(key, attributes: reported)
        case .privateKey(let key): self.init(key, attributes: reported)
        case nil: return nil
        }
    }
}
