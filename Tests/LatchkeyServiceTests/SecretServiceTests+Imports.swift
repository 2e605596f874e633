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

/// Items that were copied from another keyring.
extension SecretServiceTests {
    /// Imports an item with the pairs of the mail program.
    private func importItem(rule: AccessControl? = nil) throws -> String {
        if let rule { #expect(use(.protectNew(collection: "login", rule), by: 1) == .done) }
        let new = NewSecret(
            collection: "login", label: "Imported", contentType: "text/plain", pairs: mailPairs,
            secret: SecretBytes("imported".utf8))
        let stored = try #require(items(use(.store(new, replaces: false), by: 9))?.first)
        guard case .text(let identifier) = stored.attributes?[.identifier] else { return "" }
        return identifier
    }

    @Test(.promise("secrets.import")) func aProgramTakesOverAnImportedItemAfterThePersonAgreed() throws {
        let imported = try importItem()
        answer(.once)
        #expect(try fill("new") == imported, "it is the same item")
        let prompt = try #require(prompts.shown.first)
        #expect(prompt.purpose == .replaceSecret && prompt.reason == "Imported")
        #expect(prompt.content.step == .onceAsked && prompt.caller == "/usr/bin/mail")
        #expect(secret(use(.read([imported]), by: 1, asks: false)) == "new")
        #expect(try fill("newer") == imported && prompts.shown.count == 1, "it is its own now")
        #expect(items(use(.search(collection: nil, mailPairs), by: 1))?.count == 1)
        #expect(status(use(.read([imported]), by: 9, asks: false)) == .interactionNotAllowed)
        #expect(status(use(.read([imported]), by: 2, asks: false)) == .interactionNotAllowed)
    }

    /// An error would lose what the program stores.
    @Test(.promise("secrets.import"), arguments: [true, false])
    func aProgramThatIsRefusedAnImportedItemStoresItsOwn(_ asks: Bool) throws {
        let imported = try importItem()
        if asks { #expect(send(.simulate(Request.Simulate(.cancel))) != nil) }
        let item = NewSecret(
            collection: "login", label: "Mail", contentType: "text/plain", pairs: mailPairs,
            secret: SecretBytes("own".utf8))
        let stored = try #require(items(use(.store(item, replaces: true), by: 1, asks: asks))?.first)
        #expect(stored.attributes?[.identifier] != .text(imported))
        #expect(secret(use(.read([imported]), by: 9)) == "imported")
        let count = asks ? 1 : 0
        #expect(prompts.shown.count == count)
        #expect(items(use(.store(item, replaces: true), by: 1))?.count == 1)
        #expect(items(use(.search(collection: nil, mailPairs), by: 1))?.count == 2)
        #expect(prompts.shown.count == count, "it has its own item now")
    }

    @Test(.promise("secrets.import")) func aProgramThatMayNeverReadAnImportedItemDoesNotTakeItOver() throws {
        let imported = try importItem()
        answer(.never)
        #expect(status(use(.read([imported]), by: 1)) == .userCancel)
        #expect(send(.simulate(Request.Simulate(.advance(seconds: 60)))) != nil)
        #expect(try fill() != imported)
        #expect(prompts.shown.count == 1 && secret(use(.read([imported]), by: 9)) == "imported")
    }

    /// Both were allowed: the first one has the item, and the second one does not take it from a program.
    @Test(.promise("secrets.import")) func ofTwoProgramsTheFirstOneTakesOverAnImportedItem() throws {
        let imported = try importItem()
        let answers = Recorder<Reply>()
        for (number, program, secret) in [(2, 2, "first"), (3, 3, "second")] as [(UInt64, Int32, String)] {
            let item = NewSecret(
                collection: "login", label: "Imported", contentType: "text/plain", pairs: mailPairs,
                secret: SecretBytes(secret.utf8))
            provider.handle(
                number,
                .useSecrets(
                    Request.UseSecrets(
                        process: ProcessName(processID: program, startTime: 1, userID: 1), isPinned: true,
                        action: .store(item, replaces: true))), answers.add)
        }
        answer(.once)
        answer(.once)
        #expect(answers.all.count == 2 && prompts.shown.count == 2)
        #expect(secret(use(.read([imported]), by: 2, asks: false)) == "first")
        #expect(status(use(.read([imported]), by: 3, asks: false)) == .interactionNotAllowed)
        #expect(items(use(.search(collection: nil, .none), by: 3))?.count == 1)
        try expectNoFinding()
    }

    /// It is as a new item of the program; and a rule that the item has is proven and stays.
    @Test(.promise("secrets.import"), arguments: [true, false])
    func anItemThatIsTakenOverHasTheRuleOfItsCollectionOrItsOwn(_ isProtectedBefore: Bool) throws {
        #expect(send(.setPasscode("1234")) == .done)
        let passcode = AccessControl(constraints: .devicePasscode)
        let imported = try importItem(rule: isProtectedBefore ? passcode : nil)
        if isProtectedBefore { enterPasscode() }
        let rule = isProtectedBefore ? AccessControl() : passcode
        #expect(use(.protectNew(collection: "login", rule), by: 1) == .done)
        let before = prompts.shown.count
        if isProtectedBefore { enterPasscode() }
        answer(.once)
        #expect(try fill("new") == imported && prompts.shown.count == before + 1)
        #expect(status(use(.read([imported]), by: 1, asks: false)) == .interactionNotAllowed)
        enterPasscode()
        #expect(secret(use(.read([imported]), by: 1)) == "new")
    }
}
