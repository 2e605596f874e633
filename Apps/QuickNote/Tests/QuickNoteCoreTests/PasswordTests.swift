// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySimulator
import LatchkeyTesting
import Security
import Testing

@testable import QuickNoteCore

@MainActor @Suite(.simulator(sensor: .none)) struct PasswordTests {
    @Test func firstRunSetsPassword() async {
        let app = await App()
        #expect(app.model.phase == .firstRun)
        await app.model.setPassword("pw", again: "pw")
        #expect(app.model.phase == .unlocked)
        #expect(app.model.emptyList?.title == "No Notes")
        #expect(await App().model.phase == .locked, "after a restart")
    }

    /// A person or the keychain can delete the key.
    @Test func notesWithoutAKeyAreReportedBeforeANewPasswordIsChosen() async {
        _ = await App.opened("one", "two")
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "QuickNote.key",
        ]
        #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
        let again = await App()
        #expect(again.model.phase == .firstRun)
        #expect(again.model.message?.contains("There are 2 notes whose key was deleted") == true)
    }

    @Test func differentPasswordsAreRejected() async {
        let app = await App()
        await app.model.setPassword("pw", again: "pv")
        #expect(app.model.phase == .firstRun)
        #expect(app.model.message == "The two passwords are not the same. Type them again.")
    }

    @Test(arguments: ["", String(repeating: "x", count: 1025)]) func rejectsUnusablePasswords(password: String) async {
        let app = await App()
        await app.model.setPassword(password, again: password)
        #expect(app.model.phase == .firstRun)
        #expect(app.model.message?.contains("1,024") == true)
    }

    @Test func rightPasswordUnlocksAndWrongOnesAreCounted() async {
        let app = await App.opened("one")
        await app.model.lock()
        for count in 1...7 {
            await app.enter("wrong")
            #expect(app.model.phase == .locked)
            #expect(app.model.passwordPrompt?.wrongTries == count)
            #expect(app.model.passwordPrompt?.error == "That is not the password of QuickNote. Try again.")
        }
        await app.enter("")
        #expect(app.model.passwordPrompt?.error?.contains("at least one character") == true)
        await app.enter()
        #expect(app.model.phase == .unlocked)
        #expect(app.titles == ["one"])
        #expect(app.model.passwordPrompt == nil)
    }

    /// The same characters in composed and decomposed form, as different keyboards enter them.
    @Test func passwordIsIndependentOfNormalisation() async {
        let (composed, decomposed) = ("gr\u{fc}n \u{1f511}", "gru\u{308}n \u{1f511}")
        let app = await App()
        await app.model.setPassword(composed, again: decomposed)
        await app.write("one")
        for (old, new) in [(composed, decomposed), (decomposed, composed)] {
            await app.model.lock()
            await app.enter(new)
            #expect(app.titles == ["one"])
            #expect(await app.model.changePassword(from: old, to: new, again: old))
        }
    }

    @Test func oldPasswordIsRejectedAfterChange() async {
        let app = await App.opened("one")
        #expect(await app.model.changePassword(from: "pw", to: "new", again: "new"))
        await app.model.lock()
        await app.enter("pw")
        #expect(app.model.phase == .locked)
        await app.enter("new")
        #expect(app.titles == ["one"])
    }

    @Test func thePasswordCanBeChangedManyTimes() async {
        let app = await App.opened("one")
        var old = "pw"
        for number in 0..<9 {
            #expect(await app.model.changePassword(from: old, to: "\(number)", again: "\(number)"))
            old = "\(number)"
        }
        await app.model.lock()
        await app.enter(old)
        #expect(app.titles == ["one"])
    }

    @Test func aWrongOldPasswordChangesNothing() async {
        let app = await App.opened("one")
        #expect(await !app.model.changePassword(from: "wrong", to: "new", again: "new"))
        #expect(app.model.message == "That is not the password of QuickNote. Try again.")
        #expect(await !app.model.changePassword(from: "pw", to: "new", again: "ne"))
        #expect(await !app.model.changePassword(from: "pw", to: "", again: ""))
        await app.model.lock()
        await app.enter()
        #expect(app.model.phase == .unlocked)
    }

    @Test func fullDiskDuringChangeKeepsOldPassword() async throws {
        let app = await App.opened("one")
        try machine().failNext(.diskFull)
        #expect(await !app.model.changePassword(from: "pw", to: "new", again: "new"))
        #expect(app.model.message?.contains("disk is full") == true)
        await app.model.lock()
        await app.enter()
        #expect(app.titles == ["one"])
    }

    /// After a crash between the two writes of a change, both passwords are valid, which is reported. The next change
    /// invalidates both.
    @Test func crashDuringChangeKeepsBothPasswords() async throws {
        let app = await App.opened("one")
        let vault = NoteVault.ofTests
        let key = try await vault.open(password: "pw")
        #expect(try await vault.put(key, into: vault.slots[1], password: "new"))
        for password in ["pw", "new"] {
            let again = await App()
            #expect(again.model.message?.contains("interrupted") == true)
            await again.enter(password)
            #expect(again.titles == ["one"])
        }
        #expect(await app.model.changePassword(from: "new", to: "last", again: "last"))
        #expect(try await vault.passwordCount() == 1)
        #expect(await App().model.message == nil)
    }

    @Test func secondFirstRunReportsExistingPassword() async {
        let (first, second) = (await App(), await App())
        await first.model.setPassword("pw", again: "pw")
        await first.write("one")
        await second.model.setPassword("other", again: "other")
        #expect(second.model.phase == .locked)
        #expect(second.model.message?.contains("another window") == true)
        await second.enter("pw")
        #expect(second.titles == ["one"])
    }

    @Test func keychainContainsNeitherPasswordNorPlainText() async {
        _ = await App.opened("a zebra in a note")
        let secrets = openSecrets()
        #expect(!secrets.isEmpty)
        for needle in ["pw", "a zebra in a note", "zebra"] {
            #expect(secrets.allSatisfy { $0.range(of: Data(needle.utf8)) == nil })
        }
    }
}
