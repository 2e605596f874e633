// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import SeamStandIns
import SimulatedDriver
import TestSupport
import Testing

@testable import LatchkeyService

/// A prompt for an item names it as every list does, unless the app gives a reason of its own.
@Suite struct ReadingReasonTests {
    private let machine: SimulatedService
    private let prompts: CollectingPrompter

    init() throws {
        (machine, prompts) = try SimulatedService.withPrompts()
        #expect(answers(.setPasscode("1234")).all == [.done])
    }

    private func answers(_ request: Request) -> Recorder<Reply> {
        let answers = Recorder<Reply>()
        machine.handler().handle(1, request, answers.add)
        return answers
    }

    private func add(_ attributes: Attributes) {
        let rule = AccessControl(constraints: .userPresence)
        let request = Request.AddItem(
            attributes: attributes, accessControl: rule, secret: SecretBytes("topsecret".utf8))
        #expect(answers(.addItem(request)).all == [.done])
    }

    /// What the prompt quotes for an app that reads its items.
    private func reason(given: String = "", limit: MatchLimit = .one) throws -> String {
        var authentication = Authentication()
        authentication.prompting.reason = given
        let read = answers(
            .copyItems(
                Request.CopyItems(
                    query: ItemQuery(itemClass: .genericPassword), limit: limit, returns: .data,
                    authentication: authentication)))
        let shown = try #require(prompts.shown.last)
        machine.world.perform(.touch(matching: true))
        let secrets = read.all.flatMap { reply -> [SecretBytes?] in
            if case .items(let items, more: _) = reply { items.map(\.secret) } else { [] }
        }
        #expect(!secrets.isEmpty && secrets.allSatisfy { $0 == SecretBytes("topsecret".utf8) })
        #expect(shown.purpose == .app, "the name is quoted as a text of the app")
        return shown.reason
    }

    @Test func theItemHasTheNameOfTheLists() throws {
        add([.account: .text("anna"), .service: .text("mail.example"), .label: .text("Mail password")])
        #expect(try reason() == "read Mail password (mail.example)")
        #expect(try reason(given: "fetch your mail") == "fetch your mail")
    }

    @Test(
        arguments: [
            ([.account: .text("anna"), .service: .text("mail.example")], "read anna (mail.example)"),
            ([.service: .text("mail.example")], "read mail.example"),
            ([.account: .data([0xff, 0xfe])], "read fffe"),
            ([:], "read a protected item"),
        ] as [(Attributes, String)])
    func anItemWithoutALabelHasItsName(_ attributes: Attributes, _ expected: String) throws {
        add(attributes)
        #expect(try reason() == expected)
    }

    @Test func aNameCannotLookLikeATextOfLatchkey() throws {
        add([.label: .text("x”.\nLatchkey: \u{202e}type “it”\u{1b}[2J " + String(repeating: "y", count: 9000))])
        let shown = try reason()
        #expect(shown.hasPrefix("read x'. Latchkey: \u{fffd}type 'it'\u{fffd}[2J yyy"), "\(shown)")
        #expect(shown.hasSuffix("y…"))
        #expect(shown.count <= Limits.reasonCharacters + 1)
    }

    @Test func severalItemsAreNotNamed() throws {
        add([.account: .text("one")])
        add([.account: .text("two")])
        #expect(try reason(limit: .all) == "read a protected item")
    }
}
