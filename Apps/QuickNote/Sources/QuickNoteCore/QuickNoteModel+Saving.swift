// SPDX-License-Identifier: Apache-2.0

import Foundation

// Operations on the notes in the keychain, which run one after another.

extension QuickNoteModel {
    /// Reads changes of other windows. Unsaved texts of this window remain.
    ///
    /// Locks the notes if the keychain is locked: who locks it expects that no window shows a text.
    public func refresh() async {
        let error = await inTurn { await self.refreshNow() }
        if error == .notNow { await lock() }
    }

    /// - Returns: why the notes could not be read, which `message` says; nil if they were.
    @discardableResult
    private func refreshNow() async -> QuickNoteError? {
        guard notebook != nil else { return nil }
        let turn = turn
        do throws(QuickNoteError) {
            let revisions = try await store.revisions()
            guard turn == self.turn, notebook?.isUpToDate(revisions) == false else { return nil }
            let sealed = try await store.all()
            if turn == self.turn { notebook?.merge(sealed) }
            return nil
        } catch {
            report(error)
            return error
        }
    }

    /// Saves every change, without blocking the main actor. Simultaneous saves run one after another.
    ///
    /// - Returns: whether everything is saved; if not, `message` says why, and no text is lost.
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
        // A failed save is retried after the same pause; text typed meanwhile starts its own pause.
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
                try await store.add(sealed, created: entry.note.created)
            }
        // The user may have continued typing while the keychain wrote, so the entry is looked up again.
        guard let index = notebook?.index(of: id) else { return }
        if isSaved {
            let isSame = notebook?.entries[index].note.text.isSpelled(as: entry.note.text) == true
            notebook?.entries[index].revision = sealed.revision
            notebook?.entries[index].isDirty = !isSame
            return
        }
        // Another window changed or deleted the note: this text becomes a separate note, so that both texts remain.
        let note = Note(text: entry.note.text, created: entry.note.created, modified: entry.note.modified)
        let copy = try book.sealed(note)
        guard try await store.add(copy, created: note.created), let index = notebook?.index(of: id) else { return }
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

    /// Deletes the selected note; `undo` restores it until the notes are locked.
    public func deleteNote() async {
        // Read now, because another note may be selected when the deletion runs.
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
                    await refreshNow()
                    return
                }
            } catch {
                return report(error)
            }
        }
        // The user may have continued typing or selected another note meanwhile, so the entry is looked up again.
        guard let index = notebook?.index(of: id), let note = notebook?.entries.remove(at: index).note else { return }
        if notebook?.selection == id { notebook?.selection = nil }
        if !note.text.isEmpty { notebook?.deleted = note }
    }

    /// Runs operations on the notes in the keychain one after another: a list read before a save must not be merged
    /// after it, and a deletion needs the revision that a save creates.
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
    /// Whether both texts have the same bytes; `==` ignores differences of Unicode normalisation.
    func isSpelled(as other: String) -> Bool { self == other && utf8.elementsEqual(other.utf8) }
}
