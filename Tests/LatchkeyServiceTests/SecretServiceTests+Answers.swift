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

/// Answers that end with the login session, and what the log says of answers.
extension SecretServiceTests {
    // MARK: - Until logout

    /// Reads an item of the mail program, with that answer, and returns it.
    private func granted(to program: Int32 = 2) throws -> String {
        let item = try fill()
        answer(.session)
        #expect(secret(use(.read([item]), by: program)) == "topsecret")
        #expect(secret(use(.read([item]), by: program, asks: false)) == "topsecret")
        return item
    }

    private func isAskedFor(_ item: String, by program: Int32 = 2) -> Bool {
        status(use(.read([item]), by: program, asks: false)) == .interactionNotAllowed
    }

    @Test(.promise("secrets.session")) func anAnswerUntilLogoutEndsWithALock() throws {
        #expect(send(.setPasscode("1234")) == .done)
        let item = try granted()
        #expect(send(.lock(Request.Lock())) == .done)
        touch()
        #expect(send(.unlock(Request.Unlock(Prompting()))) == .done)
        #expect(isAskedFor(item))
    }

    @Test(.promise("secrets.session")) func anAnswerUntilLogoutEndsWithTheLoginSession() throws {
        let item = try granted()
        // As both authorities report the end of the last session of a user.
        machine.service.applySessionLock(isLocked: true)
        machine.service.applySessionLock(isLocked: false)
        #expect(isAskedFor(item))
    }

    /// The provider ends with the message bus of the session.
    @Test(.promise("secrets.session")) func anAnswerUntilLogoutIsThatOfOneConnection() throws {
        let item = try granted()
        let other = machine.handler()
        #expect(status(use(.read([item]), by: 2, asks: false, over: other)) == .interactionNotAllowed)
        provider.close()
        #expect(items(use(.answers, by: 1, over: other)) == [])
    }

    /// The person answers, and the keychain is locked before the answer arrives.
    @Test(.promise("secrets.session")) func anAnswerFromBeforeALockGrantsNothing() {
        let session = machine.session()
        let grant = SecretGrant(item: "1", answer: "2", program: "/usr/bin/browser")
        let epoch = session.proofEpoch
        session.grant(grant, since: epoch)
        #expect(session.grants.count == 1)
        machine.service.forgetProofs()
        session.grant(grant, since: epoch)
        #expect(session.grants.isEmpty)
        let later = session.proofEpoch
        session.close()
        session.grant(grant, since: later)
        #expect(session.grants.isEmpty)
    }

    @Test(.promise("secrets.session")) func anAnswerUntilLogoutIsListedAndWithdrawn() throws {
        let item = try granted()
        // Any program may list and withdraw, over a connection of its own.
        let other = machine.handler()
        let listed = try #require(items(use(.answers, by: 1, over: other)))
        #expect(listed.map { $0.attributes?[.label] } == [.text("session")])
        #expect(
            listed.first?.attributes?[.owner] == .text("/usr/bin/browser")
                && listed.first?.attributes?[.itemDescription] == .text("Mail"))
        guard case .text(let name)? = listed.first?.attributes?[.identifier] else { return }
        let withdrawal = SecretAction.forgetAnswer(item: item, answer: name)
        #expect(status(use(withdrawal, by: 2)) == .notPermitted, "not its own")
        #expect(secret(use(.read([item]), by: 2, asks: false)) == "topsecret")
        #expect(use(withdrawal, by: 1, over: other) == .done)
        #expect(isAskedFor(item) && items(use(.answers, by: 1)) == [])
        #expect(status(use(withdrawal, by: 1)) == .itemNotFound)
    }

    @Test(.promise("secrets.session")) func anAnswerUntilLogoutIsForOneItemAndOneProgram() throws {
        let item = try granted()
        let other = try fill(replaces: false)
        #expect(isAskedFor(other) && isAskedFor(item, by: 3))
        #expect(status(use(.change(item, SecretChanges(label: "x")), by: 2, asks: false)) == .interactionNotAllowed)
        #expect(status(use(.delete(item), by: 2, asks: false)) == .interactionNotAllowed)
        #expect(use(.delete(item), by: 1) == .done)
        #expect(items(use(.answers, by: 1)) == [])
    }

    /// Another path that reads the same.
    @Test(.promise("secrets.session")) func programsAreToldApartByTheBytesOfTheirNames() throws {
        let item = try granted(to: 7)
        #expect(isAskedFor(item, by: 8))
    }

    // MARK: - The log and the rows of answers

    private func lines() throws -> [AuditLine] {
        let page = try machine.keychain.log(Request.Log(after: 0, limit: 1000, verifies: true))
        #expect(page.finding == nil)
        return page.lines
    }

    func expectNoFinding() throws {
        var (check, found) = (StoreCheck(machine.keychain), [Finding]())
        while true {
            let report = try check.next()
            found += report.findings
            if !report.more { break }
        }
        #expect(found == [])
    }

    /// A person reads which item an answer is about, and which answer it was; and no row is left that the log does not explain.
    @Test(arguments: [
        (SecretAnswer.session, AuditEvent.allowedUntilLogout), (.always, .alwaysAllowed), (.never, .neverAllowed),
    ])
    func theLogSaysWhatWasAnsweredAboutWhichItem(_ given: SecretAnswer, _ event: AuditEvent) throws {
        let item = try fill()
        answer(given)
        _ = use(.read([item]), by: 2)
        try expectNoFinding()
        let listed = try #require(items(use(.answers, by: 1))?.first)
        guard case .text(let name) = listed.attributes?[.identifier] else { return }
        #expect(use(.forgetAnswer(item: item, answer: name), by: 1) == .done)
        let about = try lines().filter { !$0.item.isEmpty && ![.used, .refused].contains($0.event) }
        #expect(about.map(\.event) == [.added, event, .answerEnded])
        #expect(about.allSatisfy { $0.item == about[0].item && $0.item.count == 16 })
        #expect(about.map(\.caller) == ["/usr/bin/mail", "/usr/bin/browser", "/usr/bin/mail"])
        try expectNoFinding()
    }

    /// And by which answer a program read it, or did not get it.
    @Test(arguments: [
        (SecretAnswer.session, AuditGround.allowed(.untilLogout)), (.always, .allowed(.always)),
        (.never, .refused(.never)),
    ])
    func theLogSaysWhichAnswerWasApplied(_ given: SecretAnswer, _ ground: AuditGround) throws {
        let item = try fill()
        answer(given)
        _ = use(.read([item]), by: 2)
        _ = use(.read([item]), by: 2)
        _ = use(.read([item]), by: 1)
        try machine.keychain.recordGatheredRefusals()
        try machine.keychain.recordReads()
        let lines = try lines()
        let seen = lines.filter { [.used, .refused].contains($0.event) }
        #expect(seen.allSatisfy { $0.item == lines.first { $0.event == .added }?.item })
        #expect(Set(seen.filter { $0.caller == "/usr/bin/browser" }.map(\.ground)).contains(ground))
        if given != .never { #expect(seen.contains { $0.ground == .allowed(.agreed) }) }
        #expect(seen.filter { $0.caller == "/usr/bin/mail" }.map(\.ground) == [.allowed([])], "its own item")
    }

    private enum Deletion: CaseIterable, Sendable { case byItsProgram, byTheList, withItsCollection }

    @Test(.promise("secrets.answers"), arguments: Deletion.allCases)
    private func answersAreDeletedWithTheirItem(_ deletion: Deletion) throws {
        let made = try #require(items(use(.createCollection(label: "Work"), by: 1))?.first)
        guard case .text(let collection) = made.attributes?[.identifier] else { return }
        let new = NewSecret(
            collection: collection, label: "Mail", contentType: "", pairs: mailPairs, secret: SecretBytes("x".utf8))
        let stored = try #require(items(use(.store(new, replaces: false), by: 1))?.first)
        guard case .text(let item) = stored.attributes?[.identifier] else { return }
        let other = try fill()
        for (program, given) in [(2, .always), (3, .never), (7, .session)] as [(Int32, SecretAnswer)] {
            answer(given)
            _ = use(.read([item]), by: program)
        }
        answer(.always)
        _ = use(.read([other]), by: 2)
        #expect(items(use(.answers, by: 1))?.count == 4)
        switch deletion {
        case .byItsProgram: #expect(use(.delete(item), by: 1) == .done)
        case .withItsCollection: #expect(use(.deleteCollection(collection), by: 1) == .done)
        case .byTheList:
            let listed = try #require(items(send(.listEverything(Request.ListEverything()))))
            let found = listed.first { $0.attributes?[.collection] == .text(collection) }
            let reference = try #require(found?.persistentReference)
            #expect(send(.deleteListed(Request.DeleteListed(reference))) == .done)
        }
        let left = try #require(items(use(.answers, by: 1)))
        #expect(left.map { $0.attributes?[.itemDescription] } == [.text("Mail")], "that of the other item")
        try expectNoFinding()
        let ended = try lines().filter { $0.event == .answerEnded }
        #expect(ended.count == 2 && Set(ended.map(\.item)).count == 1)
    }
}
