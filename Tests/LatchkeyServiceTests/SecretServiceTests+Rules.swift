// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import LatchkeyWire
import SeamStandIns
import SimulatedDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyService

/// The rule of an item that is there, and who changes it.
extension SecretServiceTests {
    private static let rules: [AccessConstraints] = [[], .userPresence, .devicePasscode]

    private func begin(_ action: SecretAction, by program: Int32, _ number: UInt64, _ answers: Recorder<Reply>) {
        provider.handle(
            number,
            .useSecrets(
                Request.UseSecrets(
                    process: ProcessName(processID: program, startTime: 1, userID: 1), isPinned: true, action: action)),
            answers.add)
    }

    private func prove(_ rule: AccessConstraints) {
        if rule == .userPresence { touch() }
        if rule == .devicePasscode { enterPasscode() }
    }

    private func cancel() { #expect(send(.simulate(Request.Simulate(.cancel))) != nil) }

    /// Whether a read of the program that stored the item needs a proof.
    private func isProven(_ item: String) -> Bool {
        status(use(.read([item]), by: 1, asks: false)) == .interactionNotAllowed
    }

    @Test(.promise("secrets.rule"), arguments: rules, rules)
    func aRuleIsChangedAfterOnePromptWithTheProofOfTheOldOne(_ old: AccessConstraints, _ new: AccessConstraints) throws
    {
        #expect(send(.setPasscode("1234")) == .done)
        #expect(use(.protectNew(collection: "login", AccessControl(constraints: old)), by: 1) == .done)
        let item = try fill()
        let change = SecretAction.protectItem(item, AccessControl(constraints: new))
        for program in [1, 3] as [Int32] {
            #expect(status(use(change, by: program, asks: false)) == .interactionNotAllowed, "also its own program")
        }
        #expect(prompts.shown.isEmpty && isProven(item) == !old.isEmpty)
        prove(old)
        answer(.once)
        #expect(use(change, by: 3) == .done)
        let prompt = try #require(prompts.shown.first)
        #expect(prompts.shown.count == 1 && prompt.purpose == .protectSecret && prompt.reason == "Mail")
        #expect(prompt.content.step == (old.isEmpty ? .onceAsked : .proof) && prompt.caller == "secret-tool ← sh")
        #expect(isProven(item) == !new.isEmpty)
        prove(new)
        #expect(secret(use(.read([item]), by: 1)) == "topsecret")
        #expect(items(use(.search(collection: nil, mailPairs), by: 1))?.count == 1, "it still belongs to its program")
        try expectNoFinding()
    }

    /// The prompt asks for the passcode, and not for a finger, which would be easier to get.
    @Test(.promise("secrets.rule")) func aRuleIsNotWeakenedByAnotherProofOrARefusal() throws {
        #expect(send(.setPasscode("1234")) == .done)
        #expect(use(.protectNew(collection: "login", AccessControl(constraints: .devicePasscode)), by: 1) == .done)
        let item = try fill()
        let change = SecretAction.protectItem(item, AccessControl())
        let answers = Recorder<Reply>()
        begin(change, by: 2, 2, answers)
        touch()
        #expect(answers.all.isEmpty && isProven(item))
        #expect(send(.simulate(Request.Simulate(.reset))) != nil)
        cancel()
        #expect(status(answers.all.last) == .userCancel && isProven(item))
        #expect(status(use(change, by: 2)) == .promptDelayed && prompts.shown.count == 1, "no second prompt at once")
        // Proven, and then refused.
        enterPasscode()
        cancel()
        #expect(status(use(change, by: 3)) == .userCancel && isProven(item))
        enterPasscode()
        #expect(secret(use(.read([item]), by: 1)) == "topsecret")
    }

    /// They were given under another rule. What the person refused stays refused.
    @Test(.promise("secrets.rule", "secrets.answers"), arguments: [true, false])
    func permissionsEndWithTheRuleAndRefusalsRemain(_ changes: Bool) throws {
        #expect(send(.setPasscode("1234")) == .done)
        let (item, other) = (try fill(), try fill(replaces: false))
        for (program, given) in [(2, .always), (3, .never), (7, .session)] as [(Int32, SecretAnswer)] {
            answer(given)
            _ = use(.read([item]), by: program)
        }
        answer(.always)
        _ = use(.read([other]), by: 2)
        let control = changes ? AccessControl(constraints: .userPresence) : AccessControl()
        answer(.once)
        #expect(use(.protectItem(item, control), by: 1) == .done)
        let left = try #require(items(use(.answers, by: 1))).map { $0.attributes?[.label] }
        #expect(left.filter { $0 == .text("always") }.count == (changes ? 1 : 2), "that of the other item remains")
        #expect(left.filter { $0 == .text("never") }.count == 1)
        #expect(!left.contains(.text("session")))
        #expect(status(use(.read([item]), by: 3)) == .userCancel)
        #expect(status(use(.read([item]), by: 7, asks: false)) == .interactionNotAllowed)
        try expectNoFinding()
    }

    @Test(.promise("secrets.rule")) func onlyItemsOfTheSecretServiceAreReached() throws {
        let native = Request.AddItem(
            itemClass: .genericPassword, attributes: [.account: .text("a"), .service: .text("s")],
            accessControl: AccessControl(), secret: SecretBytes("native".utf8), returns: [.persistentReference],
            authentication: Authentication(
                context: nil, skipsProtected: false, prompting: Prompting(reason: "", interactionAllowed: true)))
        let added = try #require(items(send(.addItem(native)))?.first?.persistentReference)
        let item = try fill()
        answer(.always)
        _ = use(.read([item]), by: 2)
        let made = try #require(items(use(.createCollection(label: "Work"), by: 1))?.first?.attributes?[.identifier])
        let given = try #require(items(use(.answers, by: 1))?.first?.attributes?[.identifier])
        var names = [
            String(decoding: added, as: UTF8.self), Hexadecimal.encode(added), "a", "s", "", "@collections", "login",
        ]
        for case .text(let name) in [made, given] { names.append(name) }
        let before = prompts.shown.count
        for name in names {
            answer(.once)
            let reply = use(.protectItem(name, AccessControl(constraints: .userPresence)), by: 1)
            #expect([.itemNotFound, .biometryNotEnrolled, .passcodeNotSet].contains(status(reply)), "\(name)")
            #expect(send(.simulate(Request.Simulate(.reset))) != nil)
        }
        #expect(prompts.shown.count == before)
    }

    @Test(.promise("secrets.rule")) func aRuleThatNoSecretOfAProgramCanHaveIsRefused() throws {
        let item = try fill()
        for constraints in [.applicationPassword, .privateKeyUsage, [.and, .or]] as [AccessConstraints] {
            answer(.once)
            let reply = use(.protectItem(item, AccessControl(constraints: constraints)), by: 1)
            #expect(status(reply) == .invalidParameter)
            #expect(send(.simulate(Request.Simulate(.reset))) != nil)
        }
        #expect(!isProven(item))
    }

    // MARK: - What happens while the person is asked

    @Test(.promise("secrets.rule")) func anItemThatIsReplacedMeanwhileIsSealedAnewWithItsNewSecret() throws {
        #expect(send(.setPasscode("1234")) == .done)
        let item = try fill("first")
        let answers = Recorder<Reply>()
        begin(.protectItem(item, AccessControl(constraints: .devicePasscode)), by: 3, 2, answers)
        #expect(answers.all.isEmpty && prompts.shown.count == 1)
        #expect(try fill("second") == item)
        answer(.once)
        #expect(answers.all == [.done] && isProven(item))
        enterPasscode()
        #expect(secret(use(.read([item]), by: 1)) == "second")
    }

    @Test(.promise("secrets.rule")) func anItemWithAnotherLabelThanThePersonSawKeepsItsRule() throws {
        #expect(send(.setPasscode("1234")) == .done)
        let item = try fill()
        let answers = Recorder<Reply>()
        begin(.protectItem(item, AccessControl(constraints: .devicePasscode)), by: 3, 2, answers)
        #expect(use(.change(item, SecretChanges(label: "Other")), by: 1) == .done)
        answer(.once)
        #expect(status(answers.all.last) == .itemNotFound && !isProven(item))
        begin(.protectItem(item, AccessControl(constraints: .devicePasscode)), by: 3, 3, answers)
        #expect(use(.delete(item), by: 1) == .done)
        answer(.once)
        #expect(status(answers.all.last) == .itemNotFound)
    }

    /// The person agreed when the item demanded nothing. What it demands since is proven before it is weakened.
    @Test(.promise("secrets.rule")) func aRuleThatWasStrengthenedMeanwhileIsProven() throws {
        #expect(send(.setPasscode("1234")) == .done)
        let item = try fill()
        let answers = Recorder<Reply>()
        begin(.protectItem(item, AccessControl(constraints: .devicePasscode)), by: 2, 2, answers)
        begin(.protectItem(item, AccessControl()), by: 3, 3, answers)
        answer(.once)
        answer(.once)
        #expect(answers.all == [.done] && prompts.shown.count == 3, "the last prompt asks for the passcode")
        cancel()
        #expect(status(answers.all.last) == .userCancel && isProven(item))
    }

    /// Otherwise a program could have the answer to a harmless change count for another one.
    @Test(.promise("secrets.rule")) func eachChangeHasAPromptOfItsOwn() throws {
        #expect(send(.setPasscode("1234")) == .done)
        let item = try fill()
        let answers = Recorder<Reply>()
        for (number, rule) in zip(2..., [.devicePasscode, .userPresence] as [AccessConstraints]) {
            begin(.protectItem(item, AccessControl(constraints: rule)), by: 2, UInt64(number), answers)
        }
        #expect(prompts.shown.count == 1)
        answer(.once)
        #expect(answers.all == [.done] && prompts.shown.count == 2)
        cancel()
        #expect(status(answers.all.last) == .userCancel)
        enterPasscode()
        #expect(secret(use(.read([item]), by: 1)) == "topsecret")
    }

    // MARK: - Storms

    private func advance(_ seconds: UInt64) {
        #expect(send(.simulate(Request.Simulate(.advance(seconds: seconds)))) != nil)
    }

    /// A prompt that times out without an answer counts as a refusal, but blocks the program for at most five minutes.
    @Test(.promise("secrets.storm")) func aProgramWhosePromptNobodyAnswersIsRefusedForATimeThatGrows() throws {
        let item = try fill()
        let answers = Recorder<Reply>()
        for (count, seconds) in zip(1..., [10, 20, 40, 80, 160, 300, 300] as [UInt64]) {
            begin(.read([item]), by: 2, UInt64(count + 1), answers)
            #expect(prompts.shown.count == count && answers.all.count == count - 1)
            let open = try #require(prompts.shown.last?.content.step.seconds)
            advance(UInt64(open))
            #expect(answers.all.count == count && status(answers.all.last) == .systemCancel)
            for _ in 1...20 { #expect(status(use(.read([item]), by: 2)) == .promptDelayed) }
            advance(seconds - 1)
            #expect(status(use(.read([item]), by: 2)) == .promptDelayed)
            advance(1)
        }
        answer(.once)
        #expect(secret(use(.read([item]), by: 2)) == "topsecret", "the person is back")
        cancel()
        #expect(status(use(.read([item]), by: 2)) == .userCancel)
        #expect(status(use(.read([item]), by: 2)) == .promptDelayed)
        advance(10)
        answer(.once)
        #expect(secret(use(.read([item]), by: 2)) == "topsecret", "what was allowed ends the growth")
    }

    /// A program could show and withdraw its prompt in turn, or shorten its time by a request that shows none.
    @Test(.promise("secrets.storm")) func aPromptThatItsProgramWithdrawsCounts() throws {
        #expect(send(.setPasscode("1234")) == .done)
        let item = try fill()
        let answers = Recorder<Reply>()
        begin(.read([item]), by: 2, 2, answers)
        provider.cancel(2)
        #expect(
            answers.all.count == 1 && status(use(.read([item]), by: 2)) == .promptDelayed && prompts.shown.count == 1)
        advance(10)
        #expect(send(.lock(Request.Lock())) == .done)
        #expect(status(use(.unlock, by: 2, asks: false)) == .notInteractive)
        cancel()
        #expect(status(use(.unlock, by: 2)) == .userCancel)
        advance(19)
        let count = prompts.shown.count
        #expect(status(use(.unlock, by: 2)) == .promptDelayed && prompts.shown.count == count)
    }
}
