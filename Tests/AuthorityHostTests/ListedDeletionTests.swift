// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import SimulatedDriver
import TestSupport
import Testing

@testable import AuthorityDaemon
@testable import LatchkeyKeychain

/// In tier `file` an item of another app is deleted only after the user agreed at a prompt that names it.
@Suite struct ListedDeletionTests {
    private let machine: TwoServices
    private let bank = Caller(groups: ["org.example.bank"], label: "bank", program: "", processID: 78, userID: 1000)

    init() throws { machine = try TwoServices() }

    private func fill() throws -> [UInt8] {
        let request = Request.AddItem(
            attributes: [.account: .text("card"), .service: .text("bank.example")], secret: SecretBytes("x".utf8),
            returns: [.persistentReference])
        return try #require(try machine.keychain.add(request, caller: bank)?.persistentReference)
    }

    private func delete(_ reference: [UInt8]) -> () -> [Reply] {
        machine.answers(machine.session(), .deleteListed(Request.DeleteListed(reference)))
    }

    private var count: Int {
        get throws {
            var (count, cursor) = (0, SearchCursor())
            _ = try machine.keychain.listEverything(from: &cursor) { _ in count += 1 }
            return count
        }
    }

    @Test func itemIsDeletedAfterAPrompt() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let replies = delete(try fill())
        #expect(try replies().isEmpty && count == 1, "nothing is deleted before the user agreed")
        machine.world.perform(.touch(matching: true))
        #expect(replies() == [.done])
        #expect(try count == 0)
    }

    @Test func declinedPromptDeletesNothing() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let replies = delete(try fill())
        machine.world.perform(.cancel)
        #expect(replies().compactMap(\.status) == [.userCancel])
        #expect(try count == 1)
    }

    @Test func withoutAPasscodeNothingIsDeleted() throws {
        let replies = delete(try fill())
        #expect(replies().compactMap(\.status) == [.passcodeNotSet])
        #expect(try count == 1)
    }

    /// The user agreed to the name that the prompt showed.
    @Test func itemThatWasRenamedMeanwhileStays() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let reference = try fill()
        let replies = delete(reference)
        let query = ItemQuery(itemClass: nil, persistentReference: reference)
        _ = try machine.keychain.update(
            Request.UpdateItems(query, changes: [.account: .text("other")]), caller: bank, proof: .none)
        machine.world.perform(.touch(matching: true))
        #expect(replies().compactMap(\.status) == [.itemNotFound])
        #expect(try count == 1)
    }
}
