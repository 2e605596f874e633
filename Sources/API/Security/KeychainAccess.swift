// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

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
