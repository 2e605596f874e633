// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy

extension Keychain {
    /// The proof that a user must give before the items of all apps are listed.
    package static var listingPlan: AuthenticationPlan { Policy.deviceOwnerAuthentication.plan }

    /// The attributes by which lists name an item. An app can store anything in the others, such as a comment.
    private static let naming: Set<AttributeCode> = [
        .accessGroup, .account, .service, .server, .label, .applicationTag, .keyClass, .tokenID,
    ]

    /// Lists the next page of the items of every group: names and access control, neither secrets nor other attributes.
    ///
    /// - Throws: `itemAuthenticationFailed` unless `proof` satisfies `listingPlan` for this caller.
    package func listNames(
        caller: Caller, proof: Authorisation, from cursor: inout SearchCursor, emit: (FoundItem) -> Void
    ) throws(Failure) -> SearchResult {
        guard !tree.lockState.isLocked else { throw Failure.locked }
        guard isPasscodeSet, try valid(proof, for: caller).satisfies(Self.listingPlan) else {
            throw Failure(.itemAuthenticationFailed, "The items of all apps are listed only after their owner agreed.")
        }
        return try listEverything(from: &cursor) { found in
            var found = found
            found.attributes = found.attributes?.filter { Self.naming.contains($0.key) }
            emit(found)
        }
    }
}
