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

/// Who reads what of the Secret Service, with each answer of the person.
@Suite struct SecretServiceTests {
    /// Programs by their process IDs.
    private struct Callers: SecretCallers {
        static let names: [Int32: String] = [
            1: "/usr/bin/mail", 2: "/usr/bin/browser", 3: "secret-tool ← sh", 4: "?", 5: "flatpak:org.example.A",
            6: "flatpak:org.example.B",
            // Equal as texts, and not as bytes.
            7: "/home/ada/caf\u{e9}", 8: "/home/ada/cafe\u{301}",
            9: "/usr/libexec/latchkey-secrets",
        ]
        var work: (any WorkQueue)? { nil }
        var importer: String { "/usr/libexec/latchkey-secrets" }

        func program(_ process: ProcessName, namedBy provider: Caller) throws(Failure) -> AskingProgram {
            guard let name = Self.names[process.processID] else {
                throw Failure(.peerNotTrusted, "There is no such process.")
            }
            var caller = Caller(
                groups: [SecretService.group], label: name, program: name, processID: process.processID, userID: 1)
            caller.processName = process
            let namesItself = name.hasPrefix("flatpak:")
            return AskingProgram(
                caller: caller, name: name, isDetermined: name != "?" && !namesItself,
                prompted: namesItself ? "?" : nil)
        }

        func asker(_ process: ProcessName, namedBy agent: Caller) throws(Failure) -> Caller? { nil }
    }

    let machine: SimulatedService
    let prompts: CollectingPrompter
    /// The connection of the provider.
    let provider: ScriptedRequestHandler

    init() throws {
        (machine, prompts) = try SimulatedService.withPrompts { $0.secretCallers = Callers() }
        provider = machine.handler()
    }

    func send(_ request: Request, over connection: ScriptedRequestHandler? = nil) -> Reply? {
        let answers = Recorder<Reply>()
        (connection ?? provider).handle(1, request, answers.add)
        return answers.all.last
    }

    func use(
        _ action: SecretAction, by process: Int32, isPinned: Bool = true, asks: Bool = true,
        over connection: ScriptedRequestHandler? = nil
    ) -> Reply? {
        send(
            .useSecrets(
                Request.UseSecrets(
                    process: ProcessName(processID: process, startTime: 1, userID: 1), isPinned: isPinned,
                    action: action, prompting: Prompting(interactionAllowed: asks))), over: connection)
    }

    func items(_ reply: Reply?) -> [FoundItem]? {
        guard case .items(let items, more: false)? = reply else { return nil }
        return items
    }

    func status(_ reply: Reply?) -> Status? {
        if case .failure(let failure)? = reply { failure.status } else { nil }
    }

    func pairs(_ pairs: [String: String]) -> SecretPairs {
        SecretPairs(pairs.map { SecretPairs.Pair($0.key, $0.value) }) ?? .none
    }

    var mailPairs: SecretPairs { pairs(["server": "mail.example", "xdg:schema": "org.example.Mail"]) }

    /// Stores an item of the mail program and returns its identifier.
    func fill(_ secret: String = "topsecret", replaces: Bool = true) throws -> String {
        let item = NewSecret(
            collection: "login", label: "Mail", contentType: "text/plain", pairs: mailPairs,
            secret: SecretBytes(secret.utf8))
        let stored = try #require(items(use(.store(item, replaces: replaces), by: 1))?.first)
        guard case .text(let identifier) = stored.attributes?[.identifier] else { return "" }
        return identifier
    }

    func enterPasscode() { #expect(send(.simulate(Request.Simulate(.enter(SecretBytes("1234".utf8))))) != nil) }
    func touch() { #expect(send(.simulate(Request.Simulate(.touch(matching: true)))) != nil) }

    func secret(_ reply: Reply?) -> String? {
        items(reply)?.first?.secret.map { $0.withBytes { String(decoding: $0, as: UTF8.self) } }
    }

    func answer(_ answer: SecretAnswer) {
        #expect(send(.simulate(Request.Simulate(.choose(answer)))) != nil)
    }

    @Test func theProgramThatStoredAnItemReadsChangesAndDeletesItWithoutAPrompt() throws {
        let item = try fill()
        #expect(secret(use(.read([item]), by: 1)) == "topsecret")
        #expect(use(.change(item, SecretChanges(label: "Post", secret: SecretBytes("new".utf8))), by: 1) == .done)
        #expect(secret(use(.read([item]), by: 1)) == "new")
        #expect(items(use(.search(collection: nil, .none), by: 1))?.count == 1)
        #expect(use(.delete(item), by: 1) == .done)
        #expect(items(use(.read([item]), by: 1)) == [] && prompts.shown.isEmpty)
    }

    @Test(.promise("secrets.answers"), arguments: [2, 3] as [Int32], SecretAnswer.allCases)
    func anotherProgramReadsAsThePersonAnswers(_ program: Int32, _ given: SecretAnswer) throws {
        let item = try fill()
        answer(given)
        let first = use(.read([item]), by: program)
        #expect(secret(first) == (given == .never ? nil : "topsecret"))
        #expect(prompts.shown.count == 1 && prompts.shown.first?.purpose == .readSecret)
        #expect(prompts.shown.first?.reason == "Mail" && prompts.shown.first?.content.step == .answerAsked)
        // Without a prompt only a stored answer counts.
        let second = use(.read([item]), by: program, asks: false)
        switch given {
        case .once: #expect(status(second) == .interactionNotAllowed)
        case .session, .always: #expect(secret(second) == "topsecret")
        case .never: #expect(status(second) == .userCancel)
        }
        let found = items(use(.search(collection: nil, .none), by: program))?.count
        #expect(found == ([.session, .always].contains(given) ? 1 : 0))
        // The answer is for this program alone, and for this item alone.
        #expect(status(use(.read([item]), by: 5 - program, asks: false)) == .interactionNotAllowed)
        #expect(prompts.shown.count == 1)
    }

    /// The rule of an item is proven each time, whatever was answered.
    @Test(.promise("secrets.answers"), arguments: [1, 2, 3] as [Int32], SecretAnswer.allCases)
    func whatAnItemDemandsIsProvenForEachRead(_ program: Int32, _ given: SecretAnswer) throws {
        #expect(send(.setPasscode("1234")) == .done)
        for rule in [AccessConstraints.userPresence, .devicePasscode] {
            let prove = rule == .userPresence ? touch : enterPasscode
            // A change of the rule needs what it demanded before.
            if rule == .devicePasscode { touch() }
            #expect(use(.protectNew(collection: "login", AccessControl(constraints: rule)), by: 1) == .done)
            let item = try fill(replaces: false)
            let before = prompts.shown.count
            prove()
            if program != 1 { answer(given) }
            let first = use(.read([item]), by: program)
            #expect(secret(first) == (given == .never && program != 1 ? nil : "topsecret"))
            #expect(prompts.shown.count == before + 1, "one prompt has both")
            let second = use(.read([item]), by: program, asks: false)
            #expect(status(second) == (given == .never && program != 1 ? .userCancel : .interactionNotAllowed))
            if given == .never, program != 1 {
                #expect(send(.simulate(Request.Simulate(.advance(seconds: 60)))) != nil)
                continue
            }
            prove()
            let isAskedAgain = program != 1 && given == .once
            if isAskedAgain { answer(.once) }
            #expect(secret(use(.read([item]), by: program)) == "topsecret")
            #expect(prompts.shown.count == before + 2)
            #expect((prompts.shown.last?.purpose == .readSecret) == isAskedAgain, "\(rule)")
        }
    }

    // MARK: - Unlock

    @Test(.promise("secrets.storm")) func aProgramThatIsRefusedAnUnlockIsRefusedForATimeThatGrows() throws {
        #expect(send(.setPasscode("1234")) == .done)
        #expect(use(.unlock, by: 2) == .done && prompts.shown.isEmpty, "nothing is locked")
        #expect(send(.lock(Request.Lock())) == .done)
        #expect(status(use(.unlock, by: 2, asks: false)) == .notInteractive)
        for (count, seconds) in [(1, 10), (2, 20), (3, 40)] as [(Int, UInt64)] {
            #expect(send(.simulate(Request.Simulate(.cancel))) != nil)
            #expect(status(use(.unlock, by: 2)) == .userCancel)
            for _ in 1...20 { #expect(status(use(.unlock, by: 2)) == .promptDelayed) }
            #expect(prompts.shown.count == count)
            #expect(prompts.shown.last?.purpose == .unlock && prompts.shown.last?.caller == "/usr/bin/browser")
            #expect(send(.simulate(Request.Simulate(.advance(seconds: seconds - 1)))) != nil)
            #expect(status(use(.unlock, by: 2)) == .promptDelayed)
            #expect(send(.simulate(Request.Simulate(.advance(seconds: 1)))) != nil)
        }
        touch()
        #expect(use(.unlock, by: 3) == .done, "another program is asked for")
        #expect(prompts.shown.last?.caller == "secret-tool ← sh")
        #expect(!machine.service.authority.state.isLocked)
    }

    @Test func anAnswerIsListedAndForgotten() throws {
        let item = try fill()
        answer(.always)
        #expect(secret(use(.read([item]), by: 2)) == "topsecret")
        let listed = try #require(items(use(.answers, by: 1))?.first)
        #expect(
            listed.attributes?[.owner] == .text("/usr/bin/browser") && listed.attributes?[.label] == .text("always"))
        #expect(listed.attributes?[.itemDescription] == .text("Mail"))
        guard case .text(let name) = listed.attributes?[.identifier] else { return }
        #expect(status(use(.forgetAnswer(item: item, answer: name), by: 2)) == .notPermitted, "not its own")
        #expect(use(.forgetAnswer(item: item, answer: name), by: 1) == .done)
        #expect(items(use(.answers, by: 1)) == [])
        #expect(status(use(.read([item]), by: 2, asks: false)) == .interactionNotAllowed)
    }

    @Test(.promise("secrets.answers")) func aProcessThatTheBusDoesNotNameByADescriptorIsAskedForEachTime() throws {
        let item = try fill()
        answer(.once)
        #expect(secret(use(.read([item]), by: 2, isPinned: false)) == "topsecret")
        #expect(prompts.shown.last?.content.step == .onceAsked)
        #expect(items(use(.answers, by: 1)) == [])
        #expect(status(use(.read([item]), by: 2, isPinned: false, asks: false)) == .interactionNotAllowed)
    }

    @Test(.promise("secrets.search")) func aSearchOfOthersShowsNoLabelAndNeedsMoreThanASchema() throws {
        let item = try fill()
        let found = try #require(items(use(.search(collection: nil, mailPairs), by: 2))?.first)
        #expect(found.attributes == [.collection: .text("login"), .identifier: .text(item)])
        #expect(found.secret == nil && found.persistentReference == nil)
        #expect(items(use(.search(collection: nil, pairs(["xdg:schema": "org.example.Mail"])), by: 2)) == [])
        #expect(items(use(.search(collection: nil, .none), by: 2)) == [])
        #expect(items(use(.search(collection: "other", mailPairs), by: 1)) == [])
        #expect(items(use(.search(collection: nil, pairs(["server": "other"])), by: 1)) == [])
    }

    /// For a copy to another keyring. It shows names and no secrets: what is read is asked for as always.
    @Test func everyItemIsListedWithoutSecretsAndWithoutAnswers() throws {
        let item = try fill()
        answer(.always)
        #expect(secret(use(.read([item]), by: 2)) == "topsecret")
        #expect(items(use(.createCollection(label: "Work"), by: 1))?.count == 1)
        let listed = try #require(items(use(.everyItem, by: 3)))
        #expect(listed.map { $0.attributes?[.label] } == [.text("Mail")] && listed.allSatisfy { $0.secret == nil })
        #expect(listed.first?.attributes?[.pairs] == .data(mailPairs.bytes))
        #expect(status(use(.read([item]), by: 3, asks: false)) == .interactionNotAllowed)
    }

    /// The identifier, with which the person changes the rule of the item; the pairs are what its program chose.
    @Test func aListOfNamesHasTheIdentifierOfAnItemAndNoPairs() throws {
        #expect(send(.setPasscode("1234")) == .done)
        let item = try fill()
        touch()
        let listed = try #require(items(send(.listNames))?.first?.attributes)
        #expect(listed[.identifier] == .text(item) && listed[.label] == .text("Mail"))
        #expect(Set(listed.keys) == [.identifier, .label, .accessGroup, .creationDate])
    }

    @Test func replacingChangesTheOwnItemAndNoneOfOthers() throws {
        let item = try fill("first")
        #expect(try fill("second") == item)
        #expect(secret(use(.read([item]), by: 1)) == "second")
        let theirs = NewSecret(
            collection: "login", label: "Theirs", contentType: "text/plain", pairs: mailPairs,
            secret: SecretBytes("third".utf8))
        #expect(items(use(.store(theirs, replaces: true), by: 2))?.count == 1)
        #expect(secret(use(.read([item]), by: 1)) == "second")
        #expect(items(use(.search(collection: nil, mailPairs), by: 1))?.count == 2)
        #expect(try fill("fourth", replaces: false) != item)
    }

    /// An answer is for reads: a change and a removal of an item of another program are asked for each time, also by a program
    /// that may always read it.
    @Test(.promise("secrets.answers"), arguments: [nil, SecretAnswer.always])
    func itemsOfOthersAreChangedAndDeletedAfterAPromptEachTime(_ given: SecretAnswer?) throws {
        let item = try fill()
        if let given {
            answer(given)
            #expect(secret(use(.read([item]), by: 2)) == "topsecret")
        }
        let before = prompts.shown.count
        let change = SecretAction.change(item, SecretChanges(secret: SecretBytes("theirs".utf8)))
        #expect(status(use(change, by: 2, asks: false)) == .interactionNotAllowed)
        #expect(status(use(.delete(item), by: 2, asks: false)) == .interactionNotAllowed)
        #expect(secret(use(.read([item]), by: 1)) == "topsecret" && prompts.shown.count == before)
        for count in 1...2 {
            answer(.once)
            #expect(use(change, by: 2) == .done)
            #expect(prompts.shown.count == before + count && prompts.shown.last?.purpose == .changeSecret)
            #expect(prompts.shown.last?.content.step == .onceAsked)
        }
        #expect(secret(use(.read([item]), by: 1)) == "theirs", "it is still that of the program which stored it")
        #expect(send(.simulate(Request.Simulate(.cancel))) != nil)
        #expect(status(use(.delete(item), by: 2)) == .userCancel)
        #expect(status(use(.delete(item), by: 2)) == .promptDelayed, "no second prompt at once")
        #expect(prompts.shown.count == before + 3 && prompts.shown.last?.purpose == .deleteSecret)
        #expect(send(.simulate(Request.Simulate(.advance(seconds: 10)))) != nil)
        answer(.once)
        #expect(use(.delete(item), by: 2) == .done)
        #expect(items(use(.read([item]), by: 1)) == [])
    }

    @Test func aProgramThatMayNeverReadAnItemDoesNotChangeItEither() throws {
        let item = try fill()
        answer(.never)
        #expect(status(use(.read([item]), by: 2)) == .userCancel)
        #expect(send(.simulate(Request.Simulate(.advance(seconds: 10)))) != nil)
        #expect(status(use(.change(item, SecretChanges(label: "mine")), by: 2)) == .userCancel)
        #expect(status(use(.delete(item), by: 2)) == .userCancel)
        #expect(prompts.shown.count == 1)
    }

    /// One prompt asks for what the item demands and for the agreement.
    @Test func aProtectedItemOfAnotherProgramIsChangedAfterOnePrompt() throws {
        #expect(send(.setPasscode("1234")) == .done)
        #expect(use(.protectNew(collection: "login", AccessControl(constraints: .devicePasscode)), by: 1) == .done)
        let item = try fill()
        #expect(send(.simulate(Request.Simulate(.enter(SecretBytes("1234".utf8))))) != nil)
        answer(.once)
        #expect(use(.change(item, SecretChanges(secret: SecretBytes("new".utf8))), by: 2) == .done)
        #expect(prompts.shown.count == 1)
    }

    @Test(.promise("secrets.storm")) func aRefusedProgramIsRefusedWithoutAPromptForATimeThatGrows() throws {
        let item = try fill()
        for (count, seconds) in [(1, 10), (2, 20), (3, 40)] as [(Int, UInt64)] {
            #expect(send(.simulate(Request.Simulate(.cancel))) != nil)
            #expect(status(use(.read([item]), by: 2)) == .userCancel)
            #expect(prompts.shown.count == count)
            #expect(status(use(.read([item]), by: 2)) == .promptDelayed)
            #expect(send(.simulate(Request.Simulate(.advance(seconds: seconds - 1)))) != nil)
            #expect(status(use(.read([item]), by: 2)) == .promptDelayed)
            #expect(prompts.shown.count == count, "no prompt within \(seconds) s")
            #expect(send(.simulate(Request.Simulate(.advance(seconds: 1)))) != nil)
        }
    }

    /// A program that chooses its name gets no prompt more by another one.
    @Test(.promise("secrets.storm", "secrets.sandboxes")) func programsThatNameThemselvesShareRefusalsAndNothingElse()
        throws
    {
        let item = try fill()
        answer(.once)
        #expect(secret(use(.read([item]), by: 5)) == "topsecret")
        #expect(prompts.shown.last?.content.step == .onceAsked)
        #expect(status(use(.read([item]), by: 5, asks: false)) == .interactionNotAllowed)
        #expect(items(use(.search(collection: nil, .none), by: 6)) == [])
        #expect(send(.simulate(Request.Simulate(.cancel))) != nil)
        #expect(status(use(.read([item]), by: 5)) == .userCancel)
        let count = prompts.shown.count
        for program in [4, 5, 6] as [Int32] { #expect(status(use(.read([item]), by: program)) == .promptDelayed) }
        #expect(prompts.shown.count == count)
        answer(.once)
        #expect(secret(use(.read([item]), by: 2)) == "topsecret" && prompts.shown.count == count + 1)
        #expect(send(.setPasscode("1234")) == .done && send(.lock(Request.Lock())) == .done)
        for program in [4, 5, 6] as [Int32] { #expect(status(use(.unlock, by: program)) == .promptDelayed) }
        #expect(prompts.shown.count == count + 1, "nor to unlock the keychain")
    }

    @Test(.promise("secrets.apart")) func noOtherProgramReachesTheItems() throws {
        _ = try fill()
        let session = machine.session(Request.Hello(application: "app", groups: [SecretService.group, "app"]))
        #expect(session.caller.groups == ["app"])
        let foreign = Caller(groups: [SecretService.group], label: "app", processID: 9, userID: 1)
        #expect(
            machine.service.session(
                caller: foreign, terminal: 0, mayNameItself: false, hello: Request.Hello(application: "")
            ).caller.groups == [])
        let bytes = Message.encoded(
            Request.ListItems(ItemQuery(itemClass: .secret)), id: 1)
        #expect(throws: WireError.self) { try Message(decoding: bytes) }
    }

    @Test func collectionsAreMadeNamedAndDeletedWithTheOwnItems() throws {
        let made = try #require(items(use(.createCollection(label: "Work"), by: 1))?.first)
        guard case .text(let name) = made.attributes?[.identifier] else { return }
        #expect(use(.renameCollection(name, label: "Office"), by: 1) == .done)
        #expect(items(use(.collections, by: 2))?.first?.attributes?[.label] == .text("Office"))
        let item = NewSecret(
            collection: name, label: "A", contentType: "", pairs: pairs(["a": "b"]), secret: SecretBytes("x".utf8))
        #expect(items(use(.store(item, replaces: false), by: 1))?.count == 1)
        #expect(status(use(.deleteCollection(name), by: 2)) == .notPermitted)
        #expect(use(.deleteCollection(name), by: 1) == .done)
        #expect(items(use(.collections, by: 1)) == [])
        #expect(status(use(.store(item, replaces: false), by: 1)) == .itemNotFound)
    }

    @Test func eachCollectionHasItsOwnRule() throws {
        #expect(send(.setPasscode("1234")) == .done)
        let made = try #require(items(use(.createCollection(label: "Work"), by: 1))?.first)
        guard case .text(let work) = made.attributes?[.identifier] else { return }
        let finger = AccessControl(accessibility: .whenPasscodeSetThisDeviceOnly, constraints: .biometryAny)
        #expect(use(.protectNew(collection: work, finger), by: 2) == .done)
        let item = NewSecret(
            collection: work, label: "A", contentType: "", pairs: .none, secret: SecretBytes("x".utf8))
        let stored = try #require(items(use(.store(item, replaces: false), by: 1))?.first)
        guard case .text(let protected) = stored.attributes?[.identifier] else { return }
        #expect(secret(use(.read([try fill()]), by: 1, asks: false)) == "topsecret", "that of the other collection")
        #expect(status(use(.read([protected]), by: 1, asks: false)) == .interactionNotAllowed)
        #expect(send(.simulate(Request.Simulate(.touch(matching: true)))) != nil)
        #expect(secret(use(.read([protected]), by: 1)) == "x")
        #expect(status(use(.protectNew(collection: "other", finger), by: 1)) == .itemNotFound)
    }

    /// Items that are stored after the change demand the passcode, and so does a change back.
    @Test func newItemsOfACollectionDemandWhatThePersonChose() throws {
        #expect(send(.setPasscode("1234")) == .done)
        let before = try fill()
        let passcode = AccessControl(constraints: .devicePasscode)
        #expect(use(.protectNew(collection: "login", passcode), by: 1) == .done)
        #expect(items(use(.collections, by: 1)) == [])
        let after = try fill(replaces: false)
        #expect(secret(use(.read([before]), by: 1)) == "topsecret" && prompts.shown.isEmpty)
        #expect(status(use(.read([after]), by: 1, asks: false)) == .interactionNotAllowed)
        #expect(
            status(use(.protectNew(collection: "login", AccessControl()), by: 1, asks: false)) == .interactionNotAllowed
        )
        #expect(send(.simulate(Request.Simulate(.enter(SecretBytes("1234".utf8))))) != nil)
        #expect(secret(use(.read([after]), by: 1)) == "topsecret")
    }

    /// One prompt asks for what the item demands and for the answer.
    @Test func aProtectedItemOfAnotherProgramNeedsTheProofAndTheAnswer() throws {
        #expect(send(.setPasscode("1234")) == .done)
        #expect(
            use(.protectNew(collection: "login", AccessControl(constraints: .devicePasscode)), by: 1) == .done)
        let item = try fill()
        #expect(send(.simulate(Request.Simulate(.enter(SecretBytes("1234".utf8))))) != nil)
        answer(.always)
        #expect(secret(use(.read([item]), by: 2)) == "topsecret")
        #expect(prompts.shown.count == 1)
        #expect(status(use(.read([item]), by: 2, asks: false)) == .interactionNotAllowed, "an answer is no proof")
    }

    /// The prompt names one item, so that its answer is for that one.
    @Test func requestsForTheSameItemShareAPromptAndOthersAreAskedFor() throws {
        let (first, second) = (try fill(), try fill(replaces: false))
        let answers = Recorder<Reply>()
        let handler = machine.handler()
        for (number, item) in [(2, first), (3, first), (4, second)] as [(UInt64, String)] {
            handler.handle(
                number,
                .useSecrets(
                    Request.UseSecrets(
                        process: ProcessName(processID: 2, startTime: 1, userID: 1), isPinned: true,
                        action: .read([item]))), answers.add)
        }
        #expect(answers.all.isEmpty && prompts.shown.count == 1)
        answer(.always)
        #expect(answers.all.count == 2 && answers.all.allSatisfy { secret($0) == "topsecret" })
        #expect(prompts.shown.count == 2, "the other item has a prompt of its own")
        answer(.never)
        #expect(status(answers.all.last) == .userCancel)
        #expect(items(use(.answers, by: 1))?.count == 2)
    }

    @Test func anAnswerForSeveralItemsIsNotStored() throws {
        let both = [try fill(), try fill(replaces: false)]
        answer(.once)
        #expect(items(use(.read(both), by: 2))?.count == 2)
        #expect(prompts.shown.last?.content.step == .onceAsked)
        #expect(items(use(.answers, by: 1)) == [])
    }

    @Test func theRuleOfNewItemsIsNotDeletedWithItsCollection() throws {
        #expect(use(.protectNew(collection: "login", AccessControl()), by: 1) == .done)
        #expect(status(use(.deleteCollection("login"), by: 1)) == .notPermitted)
        #expect(status(use(.renameCollection("login", label: "x"), by: 1)) == .notPermitted)
    }

    @Test func noAnswerIsStoredForProgramsThatCannotBeToldApart() throws {
        let item = try fill()
        answer(.once)
        #expect(secret(use(.read([item]), by: 4)) == "topsecret")
        #expect(prompts.shown.last?.content.step == .onceAsked)
        #expect(items(use(.answers, by: 1)) == [])
    }

    @Test func aProcessOfAnotherUserIsRefused() throws {
        let request = Request.UseSecrets(
            process: ProcessName(processID: 1, startTime: 1, userID: 2), isPinned: true, action: .collections)
        #expect(status(send(.useSecrets(request))) == .notPermitted)
    }

    @Test func amongSeveralItemsOneThatMayNeverBeReadIsLeftOut() throws {
        let (own, theirs) = (try fill(), try fill(replaces: false))
        answer(.never)
        #expect(status(use(.read([theirs]), by: 2)) == .userCancel)
        #expect(send(.simulate(Request.Simulate(.advance(seconds: 10)))) != nil)
        answer(.once)
        #expect(items(use(.read([theirs, own]), by: 2))?.count == 1)
    }

    /// The end of a long label must not hide that there are others.
    @Test func thePromptForSeveralItemsSaysHowManyOthersThereAre() throws {
        let long = NewSecret(
            collection: "login", label: String(repeating: "a", count: 200), contentType: "", pairs: .none,
            secret: SecretBytes("x".utf8))
        let stored = try #require(items(use(.store(long, replaces: false), by: 1))?.first)
        guard case .text(let first) = stored.attributes?[.identifier] else { return }
        answer(.once)
        #expect(items(use(.read([first, try fill()]), by: 2))?.count == 2)
        #expect(prompts.shown.first?.reason == String(repeating: "a", count: 24) + " + 1")
    }
}
