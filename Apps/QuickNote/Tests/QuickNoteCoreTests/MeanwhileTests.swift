// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import LatchkeyKit
import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Security
import Synchronization
import Testing

@testable import QuickNoteCore

/// What a person does while something else is under way.
@MainActor @Suite struct MeanwhileTests {
    /// Work of the keychain that lasts until the test ends it: what comes after it waits.
    @MainActor private struct SlowKeychain {
        private let end: AsyncStream<Never>.Continuation

        init(of model: QuickNoteModel) {
            let (stream, end) = AsyncStream<Never>.makeStream()
            self.end = end
            model.underWayInKeychain = Task { for await _ in stream {} }
        }

        func finish() { end.finish() }
    }

    /// Lets everything go on that waits for nothing but its turn.
    private func settle() async { for _ in 0..<20 { await Task.yield() } }

    // MARK: - Deleting

    @Test(.simulator(sensor: .none)) func theNoteThatWasSelectedIsDeletedAndNoOther() async {
        let app = await App.opened("one", "two")
        let (two, one) = (app.model.notes[0].id, app.model.notes[1].id)
        await app.model.select(one)
        let slow = SlowKeychain(of: app.model)
        let deleting = Task { await app.model.deleteNote() }
        await settle()
        let selecting = Task { await app.model.select(two) }
        await settle()
        slow.finish()
        await deleting.value
        await selecting.value
        #expect(app.titles == ["two"])
        #expect(app.model.selection == two, "what was selected meanwhile stays selected")
    }

    /// Each turn of the main actor is a moment: one of them is while the keychain deletes.
    @Test(.simulator(sensor: .none), arguments: 0..<10)
    func whatIsTypedWhileANoteIsDeletedComesBackWithIt(turns: Int) async {
        let app = await App.opened("one")
        await app.selectFirst()
        let deleting = Task { await app.model.deleteNote() }
        for _ in 0..<turns { await Task.yield() }
        let wasThere = app.model.selection != nil
        app.model.edit("one two")
        await deleting.value
        await app.model.undo()
        #expect(app.titles == [wasThere ? "one two" : "one"])
    }

    // MARK: - Locking

    @Test(.simulator(sensor: .none), arguments: 0..<10)
    func whatIsTypedWhileTheNotesLockIsSaved(turns: Int) async {
        let app = await App.opened("one")
        await app.selectFirst()
        app.model.edit("one two")
        let locking = Task { await app.model.lock() }
        for _ in 0..<turns { await Task.yield() }
        app.model.edit("one two three")
        let wasTyped = app.model.text == "one two three"
        await locking.value
        #expect(app.model.phase == .locked)
        #expect(!app.model.hasUnsavedText)
        #expect(app.model.message == nil)
        let again = await App()
        await again.enter()
        #expect(again.titles == [wasTyped ? "one two three" : "one two"])
    }

    // MARK: - Unlocking

    @Test(.simulator()) func whoChoosesThePasswordAtOnceIsNotAskedForAFinger() async throws {
        let app = await App.opened("one")
        await app.model.lock()
        let unlocking = Task { await app.model.unlock() }
        while !app.model.isBusy { await Task.yield() }
        app.model.askForPassword()
        await app.model.submitPassword("pw")
        // Were there a prompt, it would end with this.
        try machine().cancel()
        await unlocking.value
        #expect(app.model.phase == .unlocked)
        #expect(app.model.passwordPrompt == nil)
        #expect(try machine().transcript.lines.allSatisfy { !$0.contains("prompt") })
    }

    @Test(.simulator()) func aListThatCannotBeReadLeavesTheWayByThePassword() async throws {
        let app = await App.opened("one")
        await app.model.lock()
        // Asked for the list too, the person refuses.
        try putAskingItem(account: UUID().uuidString)
        try machine().touch(matching: true)
        try machine().cancel()
        await app.model.unlock()
        #expect(app.model.phase == .locked)
        #expect(app.model.message != nil)
        app.model.askForPassword()
        #expect(app.model.passwordPrompt != nil)
    }

    // MARK: - Starting

    @Test(.simulator(sensor: .none)) func aLookFromBeforeTheFirstPasswordDoesNotAskForAnother() async throws {
        let gate = DispatchSemaphore(value: 0)
        let isSlow = Mutex(false)
        let app = await App {
            $0.makeContext = {
                let waits = isSlow.withLock { slow in
                    defer { slow = false }
                    return slow
                }
                if waits { gate.wait() }
                return ScriptedBiometry()
            }
        }
        #expect(app.model.phase == .firstRun)
        isSlow.withLock { $0 = true }
        let looking = Task { await app.model.start() }
        while isSlow.withLock({ $0 }) { await Task.yield() }
        await app.model.setPassword("pw", again: "pw")
        await app.model.lock()
        #expect(app.model.phase == .locked)
        gate.signal()
        await looking.value
        #expect(app.model.phase == .locked)
    }

    /// A key of another time behind the finger opens none of the new notes.
    @Test(.simulator()) func aFirstPasswordPutsItsOwnKeyBehindTheFinger() async throws {
        _ = await App.opened("old")
        for slot in NoteVault.ofTests.slots { try await KeychainStore().remove(slot) }
        let app = await App()
        #expect(app.model.phase == .firstRun)
        await app.model.setPassword("new", again: "new")
        await app.write("one")
        await app.model.lock()
        try machine().touch(matching: true)
        await app.model.unlock()
        #expect(app.titles == ["one"])
    }

    /// Puts an item among the notes that asks for a finger.
    private func putAskingItem(account: String) throws {
        let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .biometryAny, nil)
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "QuickNote.note",
            kSecAttrAccount as String: account, kSecValueData as String: Data("x".utf8),
            kSecAttrAccessControl as String: try #require(control),
        ]
        #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
    }
}
