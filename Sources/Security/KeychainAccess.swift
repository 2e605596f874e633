// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// How a call reaches the engine and how it may authenticate: what a query says of both.
struct KeychainAccess {
    private let context: (any AuthenticationContext)?
    private let engine: Client
    private let skipsProtected: Bool
    private let interactionAllowed: Bool
    private let reason: String?

    /// What a query says.
    init(_ query: ParsedQuery) throws(Failure) {
        context = query.context
        // Found now: a simulated world in scope is not in scope when a key is used.
        if let context { engine = try context.client() } else { engine = try AppIdentity.client() }
        skipsProtected = query.skipsProtected
        interactionAllowed = query.interactionAllowed
        reason = query.reason
    }

    /// The engine, for as long as the context is valid.
    func client() throws(Failure) -> Client { try context?.client() ?? engine }

    /// How the request may authenticate, as the context says now.
    func authentication() throws(Failure) -> Authentication {
        var prompting = context?.prompting ?? Prompting()
        if let reason { prompting.reason = reason }
        if !interactionAllowed { prompting.interactionAllowed = false }
        return Authentication(
            context: try context?.handle(), skipsProtected: skipsProtected, prompting: prompting.clipped,
            applicationPassword: context?.applicationPassword)
    }
}
