// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy

extension Keychain {
    /// Returns all pages of a search.
    func search(
        _ request: Request.CopyItems, caller: Caller, proof: Authorisation, used: (UsedItem) -> Void,
        emit: (FoundItem) -> Void
    ) throws(Failure) -> SearchResult {
        var cursor = SearchCursor()
        var result = SearchResult.more
        while result == .more {
            result = try search(request, caller: caller, proof: proof, from: &cursor, used: used, emit: emit)
        }
        return result
    }

    /// Returns all pages of a listing.
    func list(_ query: ItemQuery, caller: Caller, emit: (FoundItem) -> Void) throws(Failure) {
        var cursor = SearchCursor()
        while try list(query, caller: caller, from: &cursor, emit: emit) == .more {}
    }
}
