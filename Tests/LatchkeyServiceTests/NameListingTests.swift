// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import SeamStandIns
import SimulatedDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyService

/// The names and rules of the items of every app are listed only after the user agreed at a prompt for that purpose, and
/// the list has no secret.
@Suite struct NameListingTests {
    private let machine: SimulatedService
    private let prompts: CollectingPrompter
    private let background = HeldWorkQueue()
    private let rule = AccessControl(accessibility: .whenPasscodeSetThisDeviceOnly, constraints: .devicePasscode)
    private var world: SimulatedWorld { machine.world }

    init() throws {
        let background = background
        (machine, prompts) = try SimulatedService.withPrompts { $0.background = background }
    }

    @discardableResult
    private func answers(_ request: Request, _ handler: ScriptedRequestHandler? = nil) -> Recorder<Reply> {
        let answers = Recorder<Reply>()
        (handler ?? machine.handler()).handle(1, request, answers.add)
        return answers
    }

    private func setPasscode() {
        #expect(answers(.setPasscode("1234")).all == [.done])
    }

    /// Adds items of another app.
    private func fill(_ count: Int = 1) throws {
        let bank = Caller(groups: ["bank"], label: "bank", processID: 2, userID: 1)
        for number in 0..<count {
            let request = Request.AddItem(
                attributes: [
                    .account: .text("account \(number)"), .service: .text("bank.example"), .label: .text("the card"),
                    .itemDescription: .text("card number"), .comment: .text("a private comment"),
                    .generic: .data(Array("private bytes".utf8)),
                ], accessControl: rule, secret: SecretBytes("topsecret".utf8))
            _ = try machine.keychain.add(request, caller: bank)
        }
    }

    private func events() throws -> [AuditEvent?] {
        try machine.keychain.log(Request.Log(after: 0, limit: 1024, verifies: true)).lines.map(\.event)
    }

    // MARK: - What is listed

    @Test(
        arguments: [
            [SimulatedWorld.Action.touch(matching: true)],
            [.touch(matching: false), .fallback, .passcode(SecretBytes("1234".utf8))],
        ])
    func namesAndRulesOfEveryAppAreListedAfterAFingerOrThePasscode(_ actions: [SimulatedWorld.Action]) throws {
        setPasscode()
        try fill()
        let answers = answers(.listNames)
        background.run()
        #expect(answers.all.isEmpty, "nothing is sent before the user agreed")
        for action in actions { world.perform(action) }
        background.run()
        let item = try #require(answers.items.first)
        #expect(answers.all.count == 1 && answers.items.count == 1)
        #expect(item.attributes?[.creationDate] != nil)
        #expect(
            item.attributes?.filter { $0.key != .creationDate } == [
                .accessGroup: .text("bank"), .account: .text("account 0"), .service: .text("bank.example"),
                .label: .text("the card"), .itemDescription: .text("card number"),
            ])
        #expect(item.accessControl == rule && item.secret == nil && item.persistentReference?.count == 34)
    }

    @Test(.promise("decision.names")) func noPartOfTheReplyHasASecretOrAComment() throws {
        setPasscode()
        try fill(3)
        let answers = answers(.listNames)
        world.perform(.touch(matching: true))
        background.run()
        #expect(answers.items.count == 3)
        for reply in answers.all {
            let bytes = Message.reply(id: 1, reply).encoded().copyBytes()
            for text in ["topsecret", "a private comment", "private bytes"] {
                #expect(!bytes.contains(Array(text.utf8)), "\(text)")
            }
        }
    }

    @Test func everyItemOfALongListIsSentOnce() throws {
        setPasscode()
        try fill(600)
        let answers = answers(.listNames)
        world.perform(.touch(matching: true))
        background.run()
        #expect(answers.items.map { $0.attributes?[.account] } == (0..<600).map { .text("account \($0)") })
        #expect(answers.all.count > 1 && answers.all.last?.isPartial == false)
    }

    // MARK: - The prompt

    @Test func thePromptNamesTheProgramAndThePurpose() {
        setPasscode()
        answers(.listNames)
        #expect(prompts.shown.last?.purpose == .listNames && prompts.shown.last?.caller == "app")
        #expect(prompts.shown.last?.reason == "")
    }

    @Test(.promise("decision.names")) func aProofThatWasGivenForSomethingElseIsNotAccepted() throws {
        setPasscode()
        let handler = machine.handler()
        let request = Request.Evaluate(
            context: try handler.context(), policy: .deviceOwnerAuthentication, prompting: Prompting(),
            reuseSeconds: 300)
        let proven = answers(.evaluate(request), handler)
        world.perform(.touch(matching: true))
        #expect(proven.all == [.proven([.biometry])])
        let listed = answers(.listNames, handler)
        background.run()
        #expect(listed.all.isEmpty && prompts.shown.last?.purpose == .listNames, "the user is asked again")
    }

    @Test(arguments: [[SimulatedWorld.Action.cancel], [.touch(matching: false), .cancel]])
    func decliningListsNothingAndIsRecordedAsARefusal(_ actions: [SimulatedWorld.Action]) throws {
        setPasscode()
        try fill()
        let answers = answers(.listNames)
        for action in actions { world.perform(action) }
        background.run()
        #expect(answers.statuses == [.userCancel] && answers.all.count == 1)
        #expect(try events().contains(.refused) && !events().contains(.namesListed))
    }

    // MARK: - Refused without a prompt

    @Test func withoutAPasscodeItIsRefused() throws {
        #expect(answers(.listNames).statuses == [.passcodeNotSet])
        #expect(prompts.shown.isEmpty)
    }

    @Test func whileTheKeychainIsLockedItIsRefused() throws {
        setPasscode()
        #expect(answers(.lock).all == [.done])
        #expect(answers(.listNames).statuses == [.interactionNotAllowed])
        #expect(prompts.shown.isEmpty)
    }

    // MARK: - A lock

    @Test func aLockWhileThePromptIsShownListsNothing() throws {
        setPasscode()
        try fill()
        let answers = answers(.listNames)
        self.answers(.lock)
        world.perform(.touch(matching: true))
        background.run()
        #expect(answers.statuses == [.systemCancel] && answers.items.isEmpty)
    }

    @Test func aLockBeforeTheListIsRecordedEndsIt() throws {
        let work = HeldWorkQueue()
        let machine = try SimulatedService { parts, _ in parts.work = work }
        let handler = machine.handler()
        let set = answers(.setPasscode("1234"), handler)
        work.run()
        #expect(set.all == [.done])
        let list = answers(.listNames, handler)
        work.run()
        machine.world.perform(.touch(matching: true))
        #expect(list.all.isEmpty, "the entry of the audit log waits for its turn")
        machine.service.forgetProofs()
        work.run()
        #expect(list.statuses == [.systemCancel] && list.items.isEmpty)
        let log = try machine.keychain.log(Request.Log(after: 0, limit: 1024, verifies: false))
        #expect(!log.lines.contains { $0.event == .namesListed })
    }

    @Test(.promise("decision.names")) func aLockBetweenThePagesEndsTheList() throws {
        setPasscode()
        try fill(600)
        let answers = answers(.listNames)
        world.perform(.touch(matching: true))
        background.step()
        let count = answers.items.count
        #expect(0 < count && count < 600)
        self.answers(.lock)
        background.run()
        #expect(answers.items.count == count && answers.statuses == [.systemCancel])
    }

    // MARK: - Audit log

    @Test(.promise("decision.names")) func theListIsInTheAuditLogBeforeTheFirstNameIsSent() throws {
        setPasscode()
        try fill()
        let answers = answers(.listNames)
        world.perform(.touch(matching: true))
        #expect(answers.all.isEmpty, "the page waits for its turn")
        #expect(try events().count { $0 == .namesListed } == 1)
    }
}

extension Recorder<Reply> {
    fileprivate var items: [FoundItem] {
        all.flatMap { reply -> [FoundItem] in if case .items(let items, _) = reply { items } else { [] } }
    }
    fileprivate var statuses: [Status] {
        all.compactMap { reply in if case .failure(let failure) = reply { failure.status } else { nil } }
    }
}
