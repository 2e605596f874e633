// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy

// Lists of the items of all access groups, without secrets.

extension Session {
    /// Lists the items of all access groups. Allowed only in tiers in which any program of the user can use the name of
    /// any app.
    func listEverything(_ call: Call) throws(Failure) -> Handling {
        try checkOneUserOwnsAll()
        return try list(call) { [self] (cursor, emit) throws(Failure) in
            try keychain().listEverything(from: &cursor, emit: emit)
        }
    }

    /// Lists the names and access controls of the items of all access groups, after the user agreed at a prompt for
    /// this purpose. Proofs of contexts are not accepted, since the user gave them for something else.
    func listNames(_ call: Call) async throws(Failure) -> Reply {
        let (keychain, caller) = (try keychain(), caller)
        try keychain.checkReadable()
        // Without a passcode nothing shows that a person agreed, and not a program.
        guard keychain.isPasscodeSet else {
            throw Failure(
                .passcodeNotSet, "The items of all apps are listed only after their owner agreed at a prompt.",
                hint: "Set a passcode first, with: latchkey passcode set")
        }
        guard !service.authority.state.isLocked else { throw Refusal.locked }
        let agreement = try await ask(call, Question(plan: Keychain.listingPlan, purpose: .listNames))
        // Recorded before the first name is sent.
        try await write(under: agreement) { () throws(Failure) in try keychain.record(.namesListed, caller: caller) }
        var next = SearchCursor()
        while true {
            let start = next
            let (items, result, cursor) = try await inTurn(call) { [self] () throws(Failure) in
                // A lock while the list is sent ends it.
                try check(agreement)
                var (items, cursor): ([FoundItem], _) = ([], start)
                let result = try keychain.listNames(caller: caller, proof: agreement.proof, from: &cursor) {
                    items.append($0)
                }
                return (items, result, cursor)
            }
            guard result == .more else { return lastPart(items, call) }
            sendPart(items, call)
            next = cursor
        }
    }

    /// Deletes an item of any access group. In the tiers `user` and `simulated` there is no prompt, because every program of
    /// the user can take the name of the item's app. In the others the user is asked at a prompt that names the item.
    func deleteListed(_ reference: [UInt8], _ call: Call) async throws(Failure) -> Reply {
        let (keychain, caller) = (try keychain(), caller)
        try keychain.checkReadable()
        guard !service.authority.state.isLocked else { throw Refusal.locked }
        let name = try keychain.nameOfListed(reference)
        guard !oneUserOwnsAll else {
            try await service.parts.work.run(.oneItem) { () throws(Failure) in
                try keychain.deleteListed(reference, caller: caller)
            }
            return .done
        }
        // Without a passcode nothing shows that a person agreed, and not a program.
        guard keychain.isPasscodeSet else {
            throw Failure(
                .passcodeNotSet, "An item of another app is deleted only after its owner agreed at a prompt.",
                hint: "Set a passcode first, with: latchkey passcode set")
        }
        let question = Question(
            plan: Keychain.listingPlan, prompting: Prompting(reason: name), purpose: .deleteItem)
        let agreement = try await ask(call, question)
        try await write(under: agreement) { () throws(Failure) in
            // The user agreed to this name, which the item's app may have changed since.
            guard try keychain.nameOfListed(reference).hasBytes(of: name) else { throw Failure.noListedItem }
            try keychain.deleteListed(reference, caller: caller, proof: agreement.proof)
        }
        return .done
    }
}
