// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyCertificates
import LatchkeyClient
import LatchkeyModel

extension ParsedQuery {
    /// Finds items of one class and creates the objects that the query requests.
    func foundObjects() throws(Failure) -> [AnyObject] {
        let access = try KeychainAccess(self)
        var objects: [AnyObject] = []
        for item in try foundItems(access) {
            if let object = try item.result(returns, access) { objects.append(object) }
        }
        return objects
    }

    private func foundItems(_ access: KeychainAccess) throws(Failure) -> [FoundItem] {
        let wanted = returns.wanted(of: itemClass ?? ItemClass(ofReference: persistentReference))
        guard let match, !match.isEmpty else { return try access.copy(query, limit: limit ?? .one, wanted) }
        let all = try access.copy(query, limit: .all, wanted.union([.data, .persistentReference]))
        let accepted = all.filter { $0.isAccepted(by: match, access) }
        guard !accepted.isEmpty else { throw Failure(.itemNotFound, "No certificate matches.") }
        return (limit ?? .one).maximum.map { Array(accepted.prefix(Int(clamping: $0))) } ?? accepted
    }
}

extension FoundItem {
    func isAccepted(by match: CertificateMatch, _ access: KeychainAccess) -> Bool {
        guard let certificate = reference(access) as? SecCertificate else { return false }
        return match.accepts(certificate, persistentReference: persistentReference.map { Data($0) }) { subject in
            let issuers = ItemQuery(itemClass: .certificate, attributes: [.subject: .data(Array(subject))])
            let items = try? access.copy(issuers, limit: .all, [.data])
            return (items ?? []).compactMap { $0.reference(access) as? SecCertificate }
        }
    }
}

extension KeychainAccess {
    func delete(_ reference: [UInt8]) throws(Failure) {
        try client().call(Request.DeleteItems(ItemQuery(itemClass: nil, persistentReference: reference)))
    }

    /// The items that match a query, up to the limit; throws `itemNotFound` when there are none.
    func copy(_ query: ItemQuery, limit: MatchLimit, _ returns: Returns) throws(Failure) -> [FoundItem] {
        let request = Request.CopyItems(
            query: query, limit: limit, returns: returns, authentication: try authentication())
        return try client().call(request)
    }
}

extension ItemClass {
    /// The item class encoded in the second byte of a persistent reference; nil when the bytes are not such a
    /// reference.
    init?(ofReference reference: [UInt8]?) {
        guard let reference, reference.count == 34 else { return nil }
        self.init(rawValue: reference[1])
    }
}

/// The client that a call uses and the way it may authenticate, both taken from a query.
struct KeychainAccess {
    private let context: (any AuthenticationContext)?
    private let engine: Client
    private let skipsProtected: Bool
    private let interactionAllowed: Bool
    private let reason: String?

    /// Reads the context, the authentication options and the reason of a query.
    init(_ query: ParsedQuery) throws(Failure) {
        context = query.context
        // Resolved now: the simulator in scope at this moment may not be in scope when the key is used later.
        if let context { engine = try context.client() } else { engine = try AppIdentity.client() }
        skipsProtected = query.skipsProtected
        interactionAllowed = query.interactionAllowed
        reason = query.reason
    }

    /// The client of the context, else that of the app.
    func client() throws(Failure) -> Client { try context?.client() ?? engine }

    /// How the request may authenticate, with the current settings of the context; throws when the context was
    /// invalidated.
    func authentication() throws(Failure) -> Authentication {
        var prompting = context?.prompting ?? Prompting()
        if let reason { prompting.reason = reason }
        if !interactionAllowed { prompting.interactionAllowed = false }
        return Authentication(
            context: try context?.handle(), skipsProtected: skipsProtected, prompting: prompting.clipped,
            applicationPassword: context?.applicationPassword, reuseSeconds: context?.reuseSeconds ?? 0)
    }
}
