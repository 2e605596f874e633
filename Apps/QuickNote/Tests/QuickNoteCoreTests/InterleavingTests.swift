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

/// Actions of the user while another operation is in progress.
@MainActor @Suite struct InterleavingTests {
    /// A keychain operation that lasts until the test ends it; later operations wait for it.
    @MainActor private struct SlowKeychain {
        private let end: AsyncStream<Never>.Continuation

        init(of model: QuickNoteModel) {
            let (stream, end) = AsyncStream<Never>.makeStream()
            self.end = end
            model.underWayInKeychain = Task { for await _ in stream {} }
        }

        func finish() { end.finish() }
    }

    /// Lets tasks run that are ready.
    private func settle() async { for _ in 0..<20 { await Task.yield() } }

    // MARK: - Deleting

    @Test(.simulator(sensor: .none)) func deletionAppliesToNoteSelectedAtRequest() async {
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
        #expect(app.model.selection == two, "the later selection remains")
    }

    /// Tries each number of turns of the main actor; in some of them the keychain is deleting.
    @Test(.simulator(sensor: .none), arguments: 0..<10)
    func undoOfDeletionRestoresTextTypedMeanwhile(turns: Int) async {
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
    func textTypedDuringLockIsSaved(turns: Int) async {
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

    @Test(.simulator()) func choosingPasswordEarlyPreventsBiometricPrompt() async throws {
        let app = await App.opened("one")
        await app.model.lock()
        let unlocking = Task { await app.model.unlock() }
        while !app.model.isBusy { await Task.yield() }
        app.model.askForPassword()
        await app.model.submitPassword("pw")
        // A prompt would consume this action.
        try machine().cancel()
        await unlocking.value
        #expect(app.model.phase == .unlocked)
        #expect(app.model.passwordPrompt == nil)
        #expect(try machine().transcript.lines.allSatisfy { !$0.contains("prompt") })
        try machine().forgetActions()
    }

    @Test(.simulator()) func unreadableListStillAllowsUnlockByPassword() async throws {
        let app = await App.opened("one")
        await app.model.lock()
        // Reading the list prompts as well, which the user cancels.
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

    @Test(.simulator(sensor: .none)) func staleStatusCheckDoesNotReturnToFirstRun() async throws {
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

    /// A key that biometry unlocks from earlier use opens none of the new notes.
    @Test(.simulator()) func firstRunReplacesKeyBehindBiometry() async throws {
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

    /// Adds an item to the notes that requires biometry.
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
