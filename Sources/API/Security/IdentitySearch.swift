// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyCertificates
import LatchkeyModel

/// Finds identities: pairs of a certificate and a private key whose application label is the certificate's public key
/// hash.
///
/// The store does not link the two items; this type looks up both, each through an index.
struct IdentitySearch {
    private let query: ParsedQuery
    private let access: KeychainAccess

    init(_ query: ParsedQuery) throws(Failure) {
        var query = query
        try query.narrowToObject()
        self.query = query
        access = try KeychainAccess(query)
    }

    private struct Found {
        var certificate: FoundItem
        var key: FoundItem
    }

    func run() throws(Failure) -> [AnyObject] {
        var objects: [AnyObject] = []
        for found in try search(keyReturns: keyReturns) {
            if let object = result(found) { objects.append(object) }
        }
        return objects
    }

    /// Deletes the certificate and the key of every identity that matches.
    func delete() throws(Failure) {
        // Several certificates may share one key, for instance after a renewal.
        var deleted: Set<[UInt8]> = []
        for found in try search(limit: .all, keyReturns: [.persistentReference]) {
            for reference in [found.certificate.persistentReference, found.key.persistentReference] {
                if let reference, deleted.insert(reference).inserted { try access.delete(reference) }
            }
        }
    }

    // MARK: - Search

    /// Requests the key's data only when a `SecIdentity` is returned, since reading the data may require a proof.
    private var keyReturns: Returns {
        query.returns.contains(.reference) ? [.data, .attributes, .persistentReference] : [.attributes]
    }

    private func search(limit given: MatchLimit? = nil, keyReturns: Returns) throws(Failure) -> [Found] {
        let limit = given ?? query.limit ?? .one
        var certificates = query.query
        certificates.itemClass = .certificate
        // Certificates are always readable: kSecAttrAccessible in the query applies to the key.
        certificates.accessibility = nil
        certificates.attributes = query.attributes.filter { ItemClass.certificate.has($0.key) }
        var found: [Found] = []
        for certificate in try access.copy(certificates, limit: .all, [.data, .attributes, .persistentReference]) {
            if let match = query.match, !certificate.isAccepted(by: match, access) { continue }
            guard let key = try key(of: certificate, keyReturns) else { continue }
            found.append(Found(certificate: certificate, key: key))
            if limit.isReached(by: found.count) { break }
        }
        guard !found.isEmpty else { throw Failure(.itemNotFound, "No identity matches.") }
        return found
    }

    private func key(of certificate: FoundItem, _ returns: Returns) throws(Failure) -> FoundItem? {
        guard let hash = certificate.attributes?[.publicKeyHash] else { return nil }
        var key = query.query
        key.itemClass = .key
        key.persistentReference = nil
        // The search for certificates has compared the attributes that certificates have too.
        key.attributes = query.attributes.filter { !ItemClass.certificate.has($0.key) }
        key.attributes[.accessGroup] = query.attributes[.accessGroup]
        guard key.attributes.add([.applicationLabel: hash, .keyClass: .number(1)]) else { return nil }
        key.anySynchronizable = true
        do throws(Failure) {
            let keys = try access.copy(key, limit: .all, returns)
            // Any app can set the label, so the key's public half is compared with the certificate's public key too.
            guard returns.contains(.data), let certificate = certificate.reference(access) as? SecCertificate else {
                return keys.first
            }
            return keys.first { $0.privateKey(of: certificate, access) != nil }
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return nil
        }
    }

    // MARK: - Results

    private func result(_ found: Found) -> AnyObject? {
        let returns = query.returns
        let data = found.certificate.secret.map { secret in secret.withBytes { Data($0) } as NSData }
        let reference = found.certificate.persistentReference.map { Data(IdentityReference.make($0)) as NSData }
        switch returns {
        case .data: return data
        case .persistentReference: return reference
        case .reference: return identity(found)
        default: break
        }
        var result: [String: Any] = [:]
        if returns.contains(.attributes) {
            result = found.key.dictionary
            result.merge(found.certificate.dictionary) { $1 }
        }
        if returns.contains(.reference) {
            result[kSecClass as String] = kSecClassIdentity
            result[kSecValueRef as String] = identity(found)
        }
        if returns.contains(.data) { result[kSecValueData as String] = data }
        if returns.contains(.persistentReference) { result[kSecValuePersistentRef as String] = reference }
        return result as NSDictionary
    }

    private func identity(_ found: Found) -> SecIdentity? {
        guard let certificate = found.certificate.reference(access) as? SecCertificate,
            let key = found.key.privateKey(of: certificate, access)
        else { return nil }
        return SecIdentity(certificate, key)
    }
}

/// The persistent reference of an identity: a marker byte, then the persistent reference of its certificate.
enum IdentityReference {
    private static let mark: UInt8 = 0x69

    static func make(_ certificate: [UInt8]) -> [UInt8] { [mark] + certificate }

    static func certificate(_ reference: [UInt8]) -> [UInt8]? {
        reference.first == mark ? Array(reference.dropFirst()) : nil
    }
}
