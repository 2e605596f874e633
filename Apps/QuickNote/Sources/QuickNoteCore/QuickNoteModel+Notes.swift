// SPDX-License-Identifier: Apache-2.0

public import Foundation

// The notes, while they are open. Everything here does nothing while they are locked.

extension QuickNoteModel {
    // MARK: - The list

    /// The notes that the search shows, changed last first; none while locked.
    public var notes: [NoteSummary] {
        guard let notebook else { return [] }
        return notebook.shown.map {
            NoteSummary(id: $0.note.id, title: $0.note.title, modified: $0.note.modified, isUnsaved: $0.isDirty)
        }
    }

    /// Words that the notes shown have to hold; "" shows all.
    public var search: String {
        get { notebook?.search ?? "" }
        set {
            notebook?.search = newValue
            touch()
        }
    }

    /// What to show in place of the list; nil when there is one.
    public var emptyList: EmptyState? {
        guard let notebook else { return .locked }
        guard notebook.shown.isEmpty else { return nil }
        return notebook.entries.isEmpty ? .noNotes : .noMatch
    }

    /// What to show in place of the text; nil when a note is selected.
    public var emptyEditor: EmptyState? {
        guard let notebook else { return .locked }
        guard notebook.selected == nil else { return nil }
        return notebook.entries.isEmpty ? .noNotes : .noSelection
    }

    /// The note that is selected.
    public var selection: UUID? { notebook?.selection }

    /// Selects a note; what was selected before is saved.
    public func select(_ id: UUID?) async {
        guard let notebook, notebook.selection != id, id == nil || notebook.index(of: id) != nil else { return }
        touch()
        dropUntouched()
        self.notebook?.selection = id
        await save()
    }

    // MARK: - The text

    /// Whether the selected note has changes that are not saved.
    public var hasUnsavedSelection: Bool { notebook?.selected?.isDirty == true }

    /// The text of the selected note; "" without one.
    public var text: String { notebook?.selected?.note.text ?? "" }

    /// Whether there is a change to take back.
    public var canUndo: Bool { notebook?.selected?.history.canUndo == true }

    /// Whether there is a change to make again.
    public var canRedo: Bool { notebook?.selected?.history.canRedo == true }

    /// Begins a note and selects it. It is kept once it has a text.
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

    /// Takes what was typed into the selected note.
    public func edit(_ text: String) { change(to: text, isTyping: true) }

    /// Takes what was typed in a window, which may not have drawn yet what the model holds by then: another note was
    /// selected, or another window's text came. What was typed goes to the text that the person saw, and where that is no
    /// more it becomes a note of its own.
    ///
    /// - Parameters:
    ///   - text: the whole text with what was typed.
    ///   - note: the note that the window shows.
    ///   - before: the text that the window showed before.
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

    /// Puts what was pasted at the end of the selected note, or in place of its text.
    ///
    /// - Parameters:
    ///   - data: what the clipboard holds; anything but UTF-8 text is refused in words.
    ///   - replacing: whether it takes the place of the whole text.
    public func paste(_ data: Data, replacing: Bool = false) {
        guard notebook?.selected != nil else { return }
        guard let pasted = String(data: data, encoding: .utf8), !pasted.utf8.contains(0) else {
            return report(.notText)
        }
        change(to: replacing ? pasted : text + pasted, isTyping: false)
    }

    /// Takes the last change of the selected note back, or the deletion of a note when none is selected.
    public func undo() async {
        guard let book = notebook else { return }
        touch()
        if let index = book.index(of: book.selection) {
            guard let text = notebook?.entries[index].history.undo(book.entries[index].note.text) else { return }
            put(text, at: index)
        } else if let deleted = book.deleted {
            // A new id: the old item is gone, and another window may know that.
            let note = Note(text: deleted.text, created: deleted.created, modified: deleted.modified)
            notebook?.deleted = nil
            notebook?.entries.append(Notebook.Entry(note: note, isDirty: true))
            notebook?.selection = note.id
            await save()
        }
    }

    /// Makes the change again that `undo` took back.
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

    /// Lets a new note go that nobody wrote in.
    private func dropUntouched() {
        guard let entry = notebook?.selected, entry.revision == nil, !entry.isDirty else { return }
        notebook?.entries.removeAll { $0.note.id == entry.note.id }
    }
}
