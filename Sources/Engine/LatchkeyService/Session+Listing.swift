// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy

// Lists of the items of all access groups, without secrets.

extension Session {
    /// Lists the items of all access groups. Allowed only in tiers in which any program of the user can use the name of
    /// any app.
    func listEverything(_ answer: @escaping Answer) throws(Failure) {
        try checkOneUserOwnsAll()
        try listEverything(SearchCursor(), answer)
    }

    private func listEverything(_ start: SearchCursor, _ answer: @escaping Answer) throws(Failure) {
        var cursor = start
        var items: [FoundItem] = []
        let result = try keychain().listEverything(from: &cursor) { items.append($0) }
        send(items, more: result == .more, answer)
        guard result == .more else { return }
        let next = cursor
        goOn(answer) { [self] (done) throws(Failure) in
            try listEverything(next, answer)
            done()
        }
    }

    /// Lists the names and rules of the items of all access groups, after the user agreed at a prompt for this purpose.
    /// Proofs of contexts are not accepted, since the user gave them for something else.
    func listNames(_ id: UInt64, _ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        try keychain.checkReadable()
        // Without a passcode nothing shows that a person agreed, and not a program.
        guard keychain.isPasscodeSet else {
            throw Failure(
                .passcodeNotSet, "The items of all apps are listed only after their owner agreed at a prompt.",
                hint: "Set a passcode first, with: latchkey passcode set")
        }
        guard !service.authority.state.isLocked else { throw Refusal.locked }
        let epoch = proofEpoch
        askOwner(id, Keychain.listingPlan, for: .listNames) { [self] asked, _ in
            switch asked {
            case .denied(let failure): refuse(failure, answer)
            case .granted(let proof): list(keychain, NameListing(proof: proof, epoch: epoch), answer)
            }
        }
    }

    /// What permits a list of names, and how far it has been sent.
    private struct NameListing: Sendable {
        let proof: Authorisation
        /// The epoch of the proofs when the user was asked. A lock while the list is sent ends it.
        let epoch: UInt64
        var cursor = SearchCursor()
    }

    /// Records the list in the audit log before the first name is sent.
    private func list(_ keychain: Keychain, _ listing: NameListing, _ answer: @escaping Answer) {
        service.parts.work.submit(.any) { [self] in
            do throws(Failure) {
                try checkIsValid(listing)
                try keychain.record(.namesListed, caller: caller)
                goOn(answer) { [self] (done) throws(Failure) in
                    try sendPage(keychain, listing, answer)
                    done()
                }
            } catch {
                answer(.failure(error))
            }
        }
    }

    private func sendPage(
        _ keychain: Keychain, _ start: NameListing, _ answer: @escaping Answer
    ) throws(Failure) {
        try checkIsValid(start)
        var listing = start
        var items: [FoundItem] = []
        let result = try keychain.listNames(caller: caller, proof: listing.proof, from: &listing.cursor) {
            items.append($0)
        }
        send(items, more: result == .more, answer)
        guard result == .more else { return }
        let next = listing
        goOn(answer) { [self] (done) throws(Failure) in
            try sendPage(keychain, next, answer)
            done()
        }
    }

    private func checkIsValid(_ listing: NameListing) throws(Failure) {
        guard listing.epoch == proofEpoch else { throw Refusal.failure(.systemCancel, nil) }
    }
}
