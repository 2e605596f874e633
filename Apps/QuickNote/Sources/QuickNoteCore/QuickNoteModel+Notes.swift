// SPDX-License-Identifier: Apache-2.0

public import Foundation

// The unlocked notes. All operations do nothing while the notes are locked.

extension QuickNoteModel {
    // MARK: - The list

    /// The notes that match the search, most recently changed first; empty while locked.
    public var notes: [NoteSummary] {
        guard let notebook else { return [] }
        return notebook.shown.map {
            NoteSummary(id: $0.note.id, title: $0.note.title, modified: $0.note.modified, isUnsaved: $0.isDirty)
        }
    }

    /// The search text; "" shows all notes.
    public var search: String {
        get { notebook?.search ?? "" }
        set {
            notebook?.search = newValue
            touch()
        }
    }

    /// The placeholder for the list; nil when the list is not empty.
    public var emptyList: EmptyState? {
        guard let notebook else { return .locked }
        guard notebook.shown.isEmpty else { return nil }
        return notebook.entries.isEmpty ? .noNotes : .noMatch
    }

    /// The placeholder for the text; nil when a note is selected.
    public var emptyEditor: EmptyState? {
        guard let notebook else { return .locked }
        guard notebook.selected == nil else { return nil }
        return notebook.entries.isEmpty ? .noNotes : .noSelection
    }

    /// The selected note.
    public var selection: UUID? { notebook?.selection }

    /// Selects a note and saves the one selected before.
    public func select(_ id: UUID?) async {
        guard let notebook, notebook.selection != id, id == nil || notebook.index(of: id) != nil else { return }
        touch()
        dropUntouched()
        self.notebook?.selection = id
        await save()
    }

    // MARK: - The text

    /// Whether the selected note has unsaved changes.
    public var hasUnsavedSelection: Bool { notebook?.selected?.isDirty == true }

    /// The text of the selected note; "" without one.
    public var text: String { notebook?.selected?.note.text ?? "" }

    /// Whether a change can be undone.
    public var canUndo: Bool { notebook?.selected?.history.canUndo == true }

    /// Whether a change can be redone.
    public var canRedo: Bool { notebook?.selected?.history.canRedo == true }

    /// Creates a note and selects it. It is discarded if the user writes nothing.
    public func newNote() async {
        guard notebook != nil else { return }
        touch()
        dropUntouched()
        let now = setup.clock.date
        let note = Note(text: "", created: now, modified: now)
        notebook?.entries.append(Notebook.Entry(note: note))
        notebook?.selection = note.id
        notebook?.search = ""
        await save()
    }

    /// Changes the text of the selected note.
    public func edit(_ text: String) { change(to: text, isTyping: true) }

    /// Changes the text of a note in a window that may not have drawn the latest state of the model: another note may
    /// have been selected, or another window may have changed the text. The change applies to the text that the user
    /// saw; if that text no longer exists, it becomes a separate note.
    ///
    /// - Parameters:
    ///   - text: the whole new text.
    ///   - note: the note that the window shows.
    ///   - before: the text that the window showed before the change.
    public func edit(_ text: String, in note: UUID?, shownAs before: String) {
        guard let book = notebook else { return }
        if book.selected?.note.text.isSpelled(as: before) == true { return edit(text) }
        if let index = book.index(of: note), book.entries[index].note.text.isSpelled(as: before) {
            return change(at: index, to: text, isTyping: true)
        }
        let now = setup.clock.date
        let own = Note(text: before, created: now, modified: now)
        notebook?.entries.append(Notebook.Entry(note: own))
        notebook?.selection = own.id
        message = QuickNoteModel.ownNoteWords
        edit(text)
    }

    static var ownNoteWords: String { "Another window changed this note. Your text was kept as a note of its own." }

    /// Appends pasted text to the selected note, or replaces its text.
    ///
    /// - Parameters:
    ///   - data: the content of the clipboard; anything but UTF-8 text is refused with a message.
    ///   - replacing: whether it replaces the whole text.
    public func paste(_ data: Data, replacing: Bool = false) {
        guard notebook?.selected != nil else { return }
        guard let pasted = String(data: data, encoding: .utf8), !pasted.utf8.contains(0) else {
            return report(.notText)
        }
        change(to: replacing ? pasted : text + pasted, isTyping: false)
    }

    /// Undoes the last change of the selected note, or the deletion of a note when none is selected.
    public func undo() async {
        guard let book = notebook else { return }
        touch()
        if let index = book.index(of: book.selection) {
            guard let text = notebook?.entries[index].history.undo(book.entries[index].note.text) else { return }
            put(text, at: index)
        } else if let deleted = book.deleted {
            // Uses a new id: the old item was deleted, and other windows may know that.
            let note = Note(text: deleted.text, created: deleted.created, modified: deleted.modified)
            notebook?.deleted = nil
            notebook?.entries.append(Notebook.Entry(note: note, isDirty: true))
            notebook?.selection = note.id
            await save()
        }
    }

    /// Redoes the change that `undo` reverted.
    public func redo() {
        guard let book = notebook, let index = book.index(of: book.selection),
            let text = notebook?.entries[index].history.redo(book.entries[index].note.text)
        else { return }
        touch()
        put(text, at: index)
    }

    private func change(to text: String, isTyping: Bool) {
        guard let book = notebook, let index = book.index(of: book.selection) else { return }
        change(at: index, to: text, isTyping: isTyping)
    }

    private func change(at index: Int, to text: String, isTyping: Bool) {
        touch()
        guard let old = notebook?.entries[index].note.text, !old.isSpelled(as: text) else { return }
        notebook?.entries[index].history.record(old, at: setup.clock.elapsed, isTyping: isTyping)
        put(text, at: index)
    }

    private func put(_ text: String, at index: Int) {
        notebook?.entries[index].note.text = text
        notebook?.entries[index].note.modified = setup.clock.date
        notebook?.entries[index].isDirty = true
        lastChange = setup.clock.elapsed
    }

    /// Discards a new note without text.
    private func dropUntouched() {
        guard let entry = notebook?.selected, entry.revision == nil, !entry.isDirty else { return }
        notebook?.entries.removeAll { $0.note.id == entry.note.id }
    }
}
