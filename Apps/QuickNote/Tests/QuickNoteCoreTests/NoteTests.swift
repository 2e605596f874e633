// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySimulator
import LatchkeyTesting
import Security
import Testing

@testable import QuickNoteCore

@MainActor @Suite(.simulator(sensor: .none)) struct NoteTests {
    @Test func notesAreStoredAndListedNewestFirst() async {
        let app = await App.opened("one\nmore", "two", "\n\n  three  ")
        #expect(app.titles == ["three", "two", "one"])
        await app.model.lock()
        await app.enter()
        #expect(app.titles == ["three", "two", "one"])
        await app.model.select(app.model.notes[2].id)
        #expect(app.model.text == "one\nmore")
    }

    /// A person who deletes one has to tell it from the others, and a name must not disclose the text.
    @Test func everyNoteHasANameOfItsOwnAndSaysThatItIsEncrypted() async throws {
        let app = await App.opened()
        func attributes(_ service: String) throws -> [[String: Any]] {
            let query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
                kSecMatchLimit as String: kSecMatchLimitAll, kSecReturnAttributes as String: true,
                kSecUseAuthenticationUI as String: kSecUseAuthenticationUISkip,
            ]
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
            return try #require(result as? [[String: Any]])
        }
        func labels() throws -> [String] {
            try attributes("QuickNote.note").compactMap { $0[kSecAttrLabel as String] as? String }
        }
        // The first two are of one minute, and the copies of one second.
        await app.write("secret one")
        let first = try #require(labels().first)
        await app.write("secret two")
        let store = NoteStore(service: "QuickNote.note")
        for _ in 0..<3 {
            let note = NoteStore.Sealed(id: UUID(), revision: Data([1]), bytes: Data([1]))
            #expect(try await store.add(note, created: app.clock.date))
        }
        let names = try labels()
        #expect(names.count == 5 && Set(names).count == 5 && names.contains(first))
        #expect(names.allSatisfy { $0.hasPrefix("Note of ") && !$0.contains("secret") })
        let kinds = try attributes("QuickNote.note").compactMap { $0[kSecAttrDescription as String] as? String }
        #expect(kinds == [String](repeating: "encrypted note", count: 5))
    }

    /// Each read of a note is in the audit log, and a window looks whenever it becomes active.
    @Test func notesAreReadAgainOnlyIfOneHasChanged() async throws {
        let key = try NoteKey()
        let store = NoteStore(service: "QuickNote.note")
        func sealed(_ text: String, _ revision: UInt8) throws -> NoteStore.Sealed {
            let note = Note(text: text, created: Date(), modified: Date())
            return NoteStore.Sealed(
                id: note.id, revision: Data([revision]),
                bytes: try NoteCipher.seal(note.encoded, id: note.id, key: key))
        }
        let (readable, unreadable) = (try sealed("one", 1), try sealed("two", 2))
        var damaged = unreadable
        damaged.bytes = Data([1])
        for note in [readable, damaged] { #expect(try await store.add(note, created: Date())) }
        var book = Notebook(key: key)
        #expect(try await !book.isUpToDate(store.revisions()))
        book.merge(try await store.all())
        #expect(book.entries.count == 1 && book.unreadable == 1)
        #expect(try await book.isUpToDate(store.revisions()))
        // Another window saves the one, repairs the other, and deletes it.
        #expect(try await store.replace(again(readable, as: 3), at: Data([1])))
        #expect(try await !book.isUpToDate(store.revisions()))
        book.merge(try await store.all())
        #expect(try await book.isUpToDate(store.revisions()))
        #expect(try await store.replace(again(unreadable, as: 4), at: Data([2])))
        #expect(try await !book.isUpToDate(store.revisions()))
        book.merge(try await store.all())
        #expect(book.entries.count == 2 && book.unreadable == 0)
        #expect(try await store.remove(unreadable.id, at: Data([4])))
        #expect(try await !book.isUpToDate(store.revisions()))
    }

    private func again(_ note: NoteStore.Sealed, as revision: UInt8) -> NoteStore.Sealed {
        NoteStore.Sealed(id: note.id, revision: Data([revision]), bytes: note.bytes)
    }

    @Test func searchMatchesWholeTextsIgnoringCaseAndAccents() async {
        let app = await App.opened("Café crème\nlist", "shopping: cafe", "other")
        app.model.search = "CAFÉ list"
        #expect(app.titles == ["Café crème"])
        app.model.search = "cafe"
        #expect(app.titles.count == 2)
        app.model.search = "nothing of that"
        #expect(app.titles.isEmpty)
        #expect(app.model.emptyList?.title == "Nothing Found")
        app.model.search = "  "
        #expect(app.titles.count == 3)
    }

    @Test func emptyStatesSayWhatToDo() async {
        let app = await App.opened()
        #expect(app.model.emptyList?.title == "No Notes")
        #expect(app.model.emptyEditor?.title == "No Notes")
        await app.write("one")
        await app.model.select(nil)
        #expect(app.model.emptyList == nil)
        #expect(app.model.emptyEditor?.title == "No Note Selected")
        await app.model.lock()
        #expect(app.model.emptyList?.title == "Locked")
        #expect(app.model.emptyEditor?.title == "Locked")
    }

    @Test func changesAreUndoneAndRedone() async {
        let app = await App.opened("one")
        await app.selectFirst()
        app.clock.advance(5)
        app.model.edit("one t")
        app.model.edit("one tw")
        app.model.edit("one two")
        app.clock.advance(5)
        app.model.edit("one two three")
        #expect(app.model.canUndo && !app.model.canRedo)
        await app.model.undo()
        #expect(app.model.text == "one two")
        await app.model.undo()
        #expect(app.model.text == "one", "continuous typing is one step")
        app.model.redo()
        app.model.redo()
        #expect(app.model.text == "one two three")
        app.model.redo()
        #expect(app.model.text == "one two three")
        await app.model.undo()
        app.model.edit("another way")
        #expect(!app.model.canRedo)
    }

    @Test func undoRestoresDeletedNote() async {
        let app = await App.opened("one", "two")
        await app.selectFirst()
        await app.model.deleteNote()
        #expect(app.titles == ["one"])
        await app.model.undo()
        #expect(app.titles == ["two", "one"])
        await app.model.lock()
        await app.enter()
        #expect(app.titles == ["two", "one"])
    }

    @Test func untouchedNewNoteIsDiscarded() async {
        let app = await App.opened("one")
        await app.model.newNote()
        #expect(app.titles.count == 2)
        await app.selectFirst()
        await app.model.newNote()
        await app.model.newNote()
        #expect(app.titles.count == 2)
        await app.model.lock()
        await app.enter()
        #expect(app.titles == ["one"])
    }

    @Test func emptiedNoteIsStored() async {
        let app = await App.opened("one")
        await app.selectFirst()
        app.model.edit("")
        await app.model.lock()
        await app.enter()
        #expect(app.titles == ["New Note"])
        await app.selectFirst()
        #expect(app.model.text == "")
    }

    // MARK: - Unusual input

    @Test func megabyteOfTextIsStored() async {
        let app = await App.opened(String(repeating: "ä", count: 500_000))
        await app.model.lock()
        await app.enter()
        await app.selectFirst()
        #expect(app.model.text.utf8.count == 1_000_000)
        #expect(app.titles.first?.count == 80)
    }

    @Test func tooLongTextIsReportedAndNotLost() async throws {
        let app = await App.opened("one")
        await app.selectFirst()
        let long = "long " + String(repeating: "x", count: Note.textBytes)
        app.model.paste(Data(long.utf8), replacing: true)
        #expect(await !app.model.save())
        #expect(
            app.model.message == "The note is 5 bytes too long. Move a part of it into another note; nothing is lost.")
        #expect(app.model.text == long)
        #expect(app.model.hasUnsavedText)
        await app.model.lock()
        #expect(app.model.message?.contains("comes back") == true)
        #expect(app.model.hasUnsavedText)
        await app.enter()
        await app.selectFirst()
        #expect(app.model.text == long, "across a lock")
        app.model.edit(String(long.dropFirst(5)))
        #expect(await app.model.save())
        #expect(!app.model.hasUnsavedText)
    }

    @Test(arguments: [Data([0xff, 0xfe, 0]), Data([0x41, 0, 0x42]), Data([0xc3])])
    func invalidTextIsNotPasted(data: Data) async {
        let app = await App.opened("one")
        await app.selectFirst()
        app.model.paste(data)
        #expect(app.model.text == "one")
        #expect(app.model.message == "The clipboard does not contain text. The note was not changed.")
    }

    @Test(arguments: ["one\r\ntwo", "\r\n one \r\ntwo", "one\rtwo", "one\u{2028}two"])
    func titleIsFirstLineForEveryLineBreak(text: String) async {
        #expect(await App.opened(text).titles == ["one"])
    }

    @Test func titleSkipsLeadingEmptyLines() async {
        #expect(await App.opened(String(repeating: " \n", count: 100) + "one\ntwo").titles == ["one"])
    }

    /// The strings are equal in Swift, but their bytes differ.
    @Test func differentNormalisationIsAChange() async {
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        let app = await App.opened(composed)
        await app.selectFirst()
        app.model.edit(decomposed)
        #expect(Array(app.model.text.utf8) == Array(decomposed.utf8))
        await app.model.lock()
        await app.enter()
        await app.selectFirst()
        #expect(Array(app.model.text.utf8) == Array(decomposed.utf8))
    }

    @Test func pasteIsOneUndoStep() async {
        let app = await App.opened("one")
        await app.selectFirst()
        app.model.paste(Data(" two 👩‍👩‍👧".utf8))
        #expect(app.model.text == "one two 👩‍👩‍👧")
        await app.model.undo()
        #expect(app.model.text == "one")
        app.model.paste(Data())
        #expect(app.model.text == "one")
    }

    @Test func operationsDoNothingWhileLocked() async {
        let app = await App.opened("one")
        await app.model.lock()
        await app.model.newNote()
        app.model.edit("x")
        app.model.paste(Data("x".utf8))
        app.model.search = "x"
        await app.model.undo()
        app.model.redo()
        await app.model.deleteNote()
        await app.model.select(UUID())
        await app.model.refresh()
        #expect(await app.model.save())
        #expect(await !app.model.changePassword(from: "pw", to: "x", again: "x"))
        #expect(app.model.search == "" && app.model.text == "" && app.model.notes.isEmpty)
        await app.enter()
        #expect(app.titles == ["one"])
    }

    // MARK: - Saving

    @Test func changeIsSavedAfterPause() async {
        let app = await App.opened("one")
        await app.selectFirst()
        app.model.edit("one two")
        await app.model.tick()
        #expect(app.model.notes.first?.isUnsaved == true)
        app.clock.advance(1)
        await app.model.tick()
        #expect(app.model.notes.first?.isUnsaved == false)
        // A second app reads what a restart after a crash would read.
        let again = await App()
        await again.enter()
        #expect(again.titles == ["one two"])
    }

    /// Tries each number of turns of the main actor; in some of them the keychain is writing.
    @Test(arguments: 0..<8) func textTypedDuringSaveIsSavedAfterItsOwnPause(turns: Int) async {
        let app = await App.opened("one")
        await app.selectFirst()
        app.model.edit("one two")
        let saving = Task { await app.model.save() }
        for _ in 0..<turns { await Task.yield() }
        app.model.edit("one two three")
        _ = await saving.value
        app.clock.advance(1)
        await app.model.tick()
        #expect(app.model.notes.first?.isUnsaved == false)
        let again = await App()
        await again.enter()
        #expect(again.titles == ["one two three"])
    }

    @Test(arguments: 0..<8) func noteDeletedDuringSaveStaysDeleted(turns: Int) async {
        let app = await App.opened("one")
        await app.selectFirst()
        app.model.edit("one two")
        let saving = Task { await app.model.save() }
        for _ in 0..<turns { await Task.yield() }
        await app.model.deleteNote()
        _ = await saving.value
        #expect(app.model.message == nil)
        #expect(app.titles.isEmpty)
        let again = await App()
        await again.enter()
        #expect(again.titles.isEmpty)
    }

    @Test func fullDiskLosesNoText() async throws {
        let app = await App.opened("one")
        await app.selectFirst()
        app.model.edit("one two")
        try machine().failNext(.diskFull)
        #expect(await !app.model.save())
        #expect(app.model.message?.contains("disk is full") == true)
        #expect(app.model.text == "one two")
        #expect(app.model.notes.first?.isUnsaved == true)
        let other = await App()
        await other.enter()
        #expect(other.titles == ["one"], "the saved text has not changed")
        app.clock.advance(1)
        await app.model.tick()
        #expect(app.model.notes.first?.isUnsaved == false, "the save is retried")
        await other.model.refresh()
        #expect(other.titles == ["one two"])
    }

    @Test func fullDiskDuringLockRetainsSealedText() async throws {
        let app = await App.opened("one")
        await app.selectFirst()
        app.model.edit("one two")
        try machine().failNext(.diskFull)
        await app.model.lock()
        #expect(app.model.phase == .locked)
        #expect(app.model.hasUnsavedText)
        #expect(app.model.message?.contains("comes back") == true)
        #expect(!memory(of: app.model).contains("one two"))
        await app.enter()
        #expect(app.titles == ["one two"])
        await app.model.save()
        #expect(!app.model.hasUnsavedText)
        let other = await App()
        await other.enter()
        #expect(other.titles == ["one two"])
    }

    @Test func aFailedDeletionDeletesNothing() async throws {
        let app = await App.opened("one")
        await app.selectFirst()
        try machine().failNext(.diskFull)
        await app.model.deleteNote()
        #expect(app.titles == ["one"])
        #expect(app.model.message != nil)
    }

    // MARK: - Two windows

    @Test func conflictingChangesKeepBothTexts() async {
        let first = await App.opened("one")
        let second = await App()
        await second.enter()
        await first.selectFirst()
        await second.selectFirst()
        first.model.edit("one, first")
        second.model.edit("one, second")
        await first.model.save()
        await second.model.save()
        #expect(second.model.message?.contains("note of its own") == true)
        #expect(Set(second.titles) == ["one, first", "one, second"])
        #expect(second.model.text == "one, second", "the user continues in the same text")
        await first.model.refresh()
        #expect(Set(first.titles) == ["one, first", "one, second"])
    }

    @Test func typingOverStaleTextKeepsBothTexts() async {
        let first = await App.opened("one")
        let second = await App()
        await second.enter()
        await second.selectFirst()
        second.model.edit("one, second")
        await second.model.save()
        await first.selectFirst()
        let note = first.model.selection
        await first.model.refresh()
        // The window still shows the previous text.
        first.model.edit("one, first", in: note, shownAs: "one")
        first.model.edit("one, first!", in: note, shownAs: "one, first")
        #expect(first.model.message?.contains("note of its own") == true)
        #expect(first.model.text == "one, first!", "the user continues in the same text")
        #expect(await first.model.save())
        #expect(Set(first.titles) == ["one, first!", "one, second"])
        await second.model.refresh()
        #expect(Set(second.titles) == ["one, first!", "one, second"])
    }

    @Test func typingBeforeRedrawChangesShownNote() async throws {
        let app = await App.opened("one", "two")
        let one = try #require(app.model.notes.first { $0.title == "one" }).id
        let two = try #require(app.model.notes.first { $0.title == "two" }).id
        await app.model.select(one)
        await app.model.select(two)
        app.model.edit("one!", in: one, shownAs: "one")
        #expect(app.model.text == "two" && app.model.selection == two)
        #expect(await app.model.save())
        #expect(app.model.message == nil)
        #expect(Set(app.titles) == ["one!", "two"])
    }

    @Test func typingBeforeDeletionIsDrawnIsSaved() async {
        let app = await App.opened("one")
        await app.selectFirst()
        let note = app.model.selection
        await app.model.deleteNote()
        app.model.edit("one!", in: note, shownAs: "one")
        #expect(await app.model.save())
        #expect(app.titles == ["one!"])
        await app.model.lock()
        app.model.edit("x", in: note, shownAs: "one!")
        #expect(app.model.isLocked && app.titles.isEmpty)
    }

    @Test func changedNoteSurvivesDeletionInAnotherWindow() async {
        let first = await App.opened("one")
        let second = await App()
        await second.enter()
        await second.selectFirst()
        second.model.edit("one two")
        await first.selectFirst()
        await first.model.deleteNote()
        await second.model.save()
        #expect(second.titles == ["one two"])
        await first.model.refresh()
        #expect(first.titles == ["one two"])
    }

    @Test func noteChangedInAnotherWindowIsNotDeleted() async {
        let first = await App.opened("one")
        let second = await App()
        await second.enter()
        await second.selectFirst()
        second.model.edit("one two")
        await second.model.save()
        await first.selectFirst()
        await first.model.deleteNote()
        #expect(first.titles == ["one two"])
        #expect(first.model.message?.contains("was not deleted") == true)
    }

    // MARK: - Notes that cannot be read

    @Test func damagedNoteIsReportedAndNotDeleted() async {
        let app = await App.opened("one", "two")
        let id = app.model.notes[0].id.uuidString
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: id,
        ]
        let changes = [kSecValueData as String: Data("damaged".utf8)]
        #expect(SecItemUpdate(query as CFDictionary, changes as CFDictionary) == errSecSuccess)
        let again = await App()
        await again.enter()
        #expect(again.titles == ["one"])
        #expect(again.model.message?.starts(with: "One note cannot be read") == true)
        #expect(again.model.message?.hasSuffix("It was not deleted.") == true)
        #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecSuccess)
    }

    @Test func sealedNoteDoesNotOpenUnderAnotherId() async throws {
        let key = try NoteKey()
        let (id, other) = (UUID(), UUID())
        let sealed = try NoteCipher.seal(Data("text".utf8), id: id, key: key)
        #expect(NoteCipher.open(sealed, id: id, key: key) == Data("text".utf8))
        #expect(NoteCipher.open(sealed, id: other, key: key) == nil)
        #expect(NoteCipher.open(sealed, id: id, key: try NoteKey()) == nil)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(NoteCipher.open(changed, id: id, key: key) == nil)
            #expect(NoteCipher.open(sealed.prefix(index), id: id, key: key) == nil)
        }
        #expect(try NoteCipher.seal(Data("text".utf8), id: id, key: key) != sealed, "each has a fresh ephemeral key")
        #expect(NoteCipher.open(try NoteCipher.seal(Data(), id: id, key: key), id: id, key: key) == Data())
    }

    // MARK: - Locking

    @Test func lockedModelContainsNoText() async {
        let app = await App.opened("a zebra in a note")
        await app.selectFirst()
        app.model.edit("a zebra in a changed note")
        app.model.search = "zebra"
        await app.model.deleteNote()
        #expect(memory(of: app.model).contains("zebra"), "the search finds text while unlocked")
        await app.model.lock()
        #expect(!memory(of: app.model).contains("zebra"))
        #expect(app.model.notebook == nil)
    }

    @Test func lockReleasesKey() async throws {
        let app = await App.opened("one")
        weak let key = app.model.notebook?.key
        #expect(key != nil)
        await app.model.lock()
        #expect(key == nil)
    }

    @Test func inactivityLocks() async {
        let app = await App.opened("one")
        await app.selectFirst()
        app.clock.advance(299)
        await app.model.tick()
        #expect(app.model.phase == .unlocked)
        app.model.edit("one two")
        app.clock.advance(299)
        await app.model.tick()
        #expect(app.model.phase == .unlocked, "typing counts as activity")
        app.clock.advance(1)
        await app.model.tick()
        #expect(app.model.phase == .locked)
        await app.enter()
        #expect(app.titles == ["one two"])
    }

    /// All values reachable from the model, as text.
    private func memory(of model: QuickNoteModel) -> String {
        var text = ""
        dump(model, to: &text)
        return text
    }
}
