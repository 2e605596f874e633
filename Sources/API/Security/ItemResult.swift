// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyCertificates
import LatchkeyCrypto
import LatchkeyModel

extension Returns {
    /// What to request from the daemon so that the objects for `kSecReturnRef` can be created.
    func wanted(of itemClass: ItemClass?) -> Returns {
        switch itemClass {
        case .genericPassword, .internetPassword, .secret: self
        // A certificate's data is public and is needed to create the SecCertificate.
        case .certificate, nil: contains(.reference) ? union([.data, .attributes, .persistentReference]) : self
        case .key where contains(.reference): union([.data, .attributes, .persistentReference])
        // The attributes tell which keys are in the Secure Enclave: the data of those cannot be returned.
        case .key: contains(.data) ? union(.attributes) : self
        }
    }
}

extension FoundItem {
    /// The object that is returned to the app for one item, with the contents that the `kSecReturn...` keys request;
    /// nil for `kSecReturnRef` alone when the item has no reference object.
    ///
    /// Throws `exportNotAllowed` when only the data is requested and the item is a key of the Secure Enclave.
    func result(_ returns: Returns, _ access: KeychainAccess) throws(Failure) -> AnyObject? {
        switch returns {
        case .data:
            guard !isInToken else {
                throw Failure(.exportNotAllowed, "A private key of the Secure Enclave cannot be exported.")
            }
            return data ?? NSData()
        case .persistentReference: return persistentReference.map { Data($0) as NSData }
        case .reference: return reference(access)
        default: return dictionary(returns, access)
        }
    }

    /// The `SecKey` or `SecCertificate`; nil for passwords and for keys that `SecKey` does not support, such as
    /// symmetric ones.
    func reference(_ access: KeychainAccess) -> AnyObject? {
        switch itemClass {
        case .genericPassword, .internetPassword, .secret: return nil
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

    /// The stored attributes that `SecKeyCopyAttributes` reports for a key created from this item.
    var attributesOfKey: [String: Any] {
        // All other attributes are computed from the key itself.
        let reported: Set<AttributeCode> = [
            .label, .applicationTag, .applicationLabel, .accessGroup, .synchronizable, .isPermanent, .canEncrypt,
            .canDecrypt, .canDerive, .canSign, .canVerify, .canWrap, .canUnwrap,
        ]
        return dictionary(attributes?.filter { reported.contains($0.key) })
    }

    /// All attributes by their `kSecAttr...` names.
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
    /// Creates a key from a stored item; nil when attributes and data do not describe a key that `SecKey` supports.
    convenience init?(stored attributes: Attributes, _ bytes: SecretBytes, reporting reported: [String: Any] = [:]) {
        switch StoredKey(attributes, bytes) {
        case .publicKey(let key): self.init(key, attributes: reported)
        case .privateKey(let key): self.init(key, attributes: reported)
        case nil: return nil
        }
    }
}
