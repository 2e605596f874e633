// SPDX-License-Identifier: Apache-2.0

import Foundation

// The notes and the keychain: what is read, written and deleted there, one after another.

extension QuickNoteModel {
    /// Reads what other windows have written. Texts that are not saved here stay.
    public func refresh() async { await inTurn { await self.refreshNow() } }

    private func refreshNow() async {
        guard notebook != nil else { return }
        let turn = turn
        do throws(QuickNoteError) {
            let sealed = try await store.all()
            if turn == self.turn { notebook?.merge(sealed) }
        } catch {
            report(error)
        }
    }

    /// Saves every change. Blocks nobody; saves that come at once go one after another.
    ///
    /// - Returns: whether everything is saved; `message` tells why not, and nothing is lost.
    @discardableResult
    public func save() async -> Bool { await inTurn { await self.saveNow() } }

    private func saveNow() async -> Bool {
        guard notebook?.isDirty == true else { return true }
        var isDone = true
        for id in notebook?.entries.filter(\.isDirty).map(\.note.id) ?? [] {
            do throws(QuickNoteError) {
                try await save(id)
            } catch {
                report(error)
                isDone = false
            }
        }
        // A failed save is tried again after the same pause; what was typed meanwhile waits for its own.
        if !isDone { lastChange = setup.clock.elapsed } else if notebook?.isDirty != true { lastChange = nil }
        return isDone
    }

    private func save(_ id: UUID) async throws(QuickNoteError) {
        guard let book = notebook, let index = book.index(of: id) else { return }
        let entry = book.entries[index]
        let sealed = try book.sealed(entry.note)
        let isSaved =
            if let revision = entry.revision {
                try await store.replace(sealed, at: revision)
            } else {
                try await store.add(sealed)
            }
        // The person may have typed on while the keychain wrote: look again.
        guard let index = notebook?.index(of: id) else { return }
        if isSaved {
            let isSame = notebook?.entries[index].note.text.isSpelled(as: entry.note.text) == true
            notebook?.entries[index].revision = sealed.revision
            notebook?.entries[index].isDirty = !isSame
            return
        }
        // Another window changed or deleted the note: this text becomes a note of its own, and both are kept.
        let note = Note(text: entry.note.text, created: entry.note.created, modified: entry.note.modified)
        let copy = try book.sealed(note)
        guard try await store.add(copy), let index = notebook?.index(of: id) else { return }
        let current = notebook?.entries[index]
        notebook?.entries.remove(at: index)
        var replacement = Notebook.Entry(
            note: note, revision: copy.revision, history: current?.history ?? UndoHistory())
        if let typed = current?.note.text, !typed.isSpelled(as: note.text) {
            replacement.note.text = typed
            replacement.isDirty = true
        }
        notebook?.entries.append(replacement)
        if notebook?.selection == id { notebook?.selection = note.id }
        message = QuickNoteModel.ownNoteWords
        await refreshNow()
    }

    /// Deletes the selected note; `undo` brings it back until the notes are locked.
    public func deleteNote() async {
        // The one that is selected now: another may be when its turn comes.
        guard let id = selection else { return }
        touch()
        await inTurn { await self.delete(id) }
    }

    private func delete(_ id: UUID) async {
        guard let book = notebook, let index = book.index(of: id) else { return }
        let entry = book.entries[index]
        if let revision = entry.revision {
            do throws(QuickNoteError) {
                guard try await store.remove(id, at: revision) else {
                    message = "Another window changed this note meanwhile, so it was not deleted."
                    return await refreshNow()
                }
            } catch {
                return report(error)
            }
        }
        // The person may have typed on, or selected another note, while the keychain deleted: look again.
        guard let index = notebook?.index(of: id), let note = notebook?.entries.remove(at: index).note else { return }
        if notebook?.selection == id { notebook?.selection = nil }
        if !note.text.isEmpty { notebook?.deleted = note }
    }

    /// What reads or writes the notes in the keychain goes one after another: a list that was read before a save must
    /// not come after it, and a deletion has to know the revision that a save makes.
    func inTurn<R: Sendable>(_ body: @escaping @MainActor () async -> R) async -> R {
        let before = underWayInKeychain
        let task = Task {
            await before?.value
            return await body()
        }
        underWayInKeychain = Task { _ = await task.value }
        return await task.value
    }
}

extension String {
    /// Whether it is the same text byte by byte; `==` also takes two spellings of a character for one.
    func isSpelled(as other: String) -> Bool { self == other && utf8.elementsEqual(other.utf8) }
}
