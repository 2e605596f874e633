// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import TestPromises
import TestSupport
import Testing

@testable import AuthorityDaemon

/// In tier `file` an app sees its own items, and those of other apps only after the user agreed.
@Suite struct OtherAppsNamesTests {
    private let machine: TwoServices

    init() throws {
        machine = try TwoServices()
        #expect(machine.setPasscode("abcdef") == [.done])
        _ = try machine.keychain.add(
            Request.AddItem(
                attributes: [.account: .text("card"), .service: .text("bank.example")],
                secret: SecretBytes("topsecret".utf8)),
            caller: Caller(groups: ["org.example.bank"], label: "bank", program: "", processID: 78, userID: 1000))
    }

    private func names(_ replies: [Reply]) -> [AttributeValue?] {
        guard case .items(let items, more: false)? = replies.last else { return [] }
        return items.map { $0.attributes?[.account] }
    }

    @Test(arguments: [SimulatedWorld.Action.touch(matching: true), .passcode(SecretBytes("abcdef".utf8))])
    func namesOfOtherAppsAreListedAfterAPrompt(_ proof: SimulatedWorld.Action) throws {
        let replies = machine.answers(machine.session(), .listNames)
        #expect(replies().isEmpty)
        if case .passcode = proof {
            // The button for the passcode is shown after a failed touch.
            machine.world.perform(.touch(matching: false))
            machine.world.perform(.fallback)
        }
        machine.world.perform(proof)
        #expect(names(replies()) == [.text("card")])
    }

    @Test(.promise("decision.names")) func withoutTheirPromptTheyAreNotListed() {
        let unasked = machine.answers(machine.session(), .listEverything)
        #expect(unasked().compactMap(\.status) == [.notPermitted])
        let declined = machine.answers(machine.session(), .listNames)
        machine.world.perform(.cancel)
        #expect(declined().compactMap(\.status) == [.userCancel])
    }

    @Test(.promise("decision.names")) func aNameDoesNotOpenTheItem() throws {
        let session = machine.session()
        let replies = machine.answers(session, .listNames)
        machine.world.perform(.touch(matching: true))
        guard case .items(let items, _)? = replies().last else { return }
        let reference = try #require(items.first?.persistentReference)
        let read = machine.answers(
            session,
            .copyItems(Request.CopyItems(ItemQuery(itemClass: .genericPassword, persistentReference: reference))))
        #expect(read().compactMap(\.status) == [.itemNotFound])
    }
}
