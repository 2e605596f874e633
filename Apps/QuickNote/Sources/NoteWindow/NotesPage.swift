// SPDX-License-Identifier: Apache-2.0

import Foundation
import QuickNoteCore
import Widgets

/// The open notes: the list with its search, and the text beside it.
@MainActor final class NotesPage {
    let leaflet: Leaflet
    private let model: QuickNoteModel
    private let search: SearchField
    /// The words that the field and the model agree on.
    private let told: Told
    @MainActor private final class Told { var search = "" }
    private let list: RowList
    private let noRows: EmptyPlace
    private let listPlace: Stack
    private let editor: TextEditor
    private let noText: EmptyPlace
    private let editorPlace: Stack
    private let saved = Label(styles: ["caption", "dim-label"])
    private let undo: Button
    private let redo: Button
    private let delete: Button
    private let tools: Box
    private let shown: Shown
    @MainActor private final class Shown { var note: UUID? }

    init(model: QuickNoteModel, delete deleteNote: @escaping @MainActor () -> Void) {
        self.model = model
        let told = Told()
        self.told = told
        search = SearchField("Search notes") {
            told.search = $0
            model.search = $0
        }
        search.setPlaceholder("Search")
        search.setMargin(6)
        let open = Later()
        list = RowList(
            "Notes",
            timeWords: {
                Date(timeIntervalSinceReferenceDate: $0).formatted(date: .abbreviated, time: .shortened)
            }, opened: { open.run() },
            chosen: { chosen in Task { await model.select(chosen.flatMap { UUID(uuidString: $0) }) } })
        // A button has one place.
        func newNote() -> Button {
            Button("New Note", styles: ["pill", "suggested-action"]) { Task { await model.newNote() } }
        }
        noRows = EmptyPlace(button: newNote())
        noText = EmptyPlace(button: newNote())
        listPlace = Stack(["list": list, "empty": noRows])
        let shown = Shown()
        self.shown = shown
        editor = TextEditor("Text of the note") { model.edit($0, in: shown.note, shownAs: $1) }
        undo = Button("Undo", icon: "edit-undo-symbolic", showsTitle: false, styles: ["flat"]) {
            Task { await model.undo() }
        }
        redo = Button("Redo", icon: "edit-redo-symbolic", showsTitle: false, styles: ["flat"]) { model.redo() }
        delete = Button(
            "Delete Note", icon: "user-trash-symbolic", showsTitle: false, styles: ["flat"], deleteNote)
        saved.setMargin(0, sides: 12)
        saved.expand(across: true)
        // Shown beside the words, so that nobody has to trust a green light.
        saved.setToolTip(
            "Each save is one write that counts as a whole: a crash leaves the text before it or after it.")
        tools = Box(.across, spacing: 6, [saved, undo, redo, delete])
        tools.setStyle("toolbar")
        editorPlace = Stack(["text": editor, "empty": noText])
        let left = Box(.down, spacing: 0, [search, listPlace])
        left.setWidth(260)
        let right = Box(.down, spacing: 0, [editorPlace, Line(), tools])
        right.setWidth(280)
        right.setStyle("view")
        leaflet = Leaflet(left, right)
        // The note is chosen by then: both wait for the same turn of the main actor.
        open.action = { [weak self] in Task { self?.wantsText = true } }
        leaflet.whenFolded { [weak self] in self?.show() }
    }

    /// Whether there is room for the list or the text alone, and it is the text that is seen.
    var coversList: Bool { leaflet.isFolded && model.selection != nil }

    /// Goes back to the list, where there is room for one alone.
    func showList() {
        let model = model
        Task { await model.select(nil) }
    }

    /// Whether the keys go into the text with the next note that is drawn.
    private var wantsText = false { didSet { if wantsText { show() } } }

    /// Shows the notes as the model has them: none of them while they are locked.
    func show() {
        let rows = model.notes.map {
            RowList.Row(
                id: $0.id.uuidString, title: $0.title, time: $0.modified.timeIntervalSinceReferenceDate,
                mark: $0.isUnsaved ? "Not saved · " : "")
        }
        list.show(rows, selected: model.selection?.uuidString)
        // The field tells what is typed a moment later: only what came from elsewhere may replace it.
        if told.search != model.search {
            told.search = model.search
            search.text = model.search
        }
        search.isSensitive = !model.isLocked
        // Said once: where there is no note at all, beside the list if both are seen.
        let isSaidBeside = model.emptyList == model.emptyEditor && !leaflet.isFolded
        show(isSaidBeside ? nil : model.emptyList, in: listPlace, noRows, or: "list")
        leaflet.show(second: model.selection != nil)
        show(model.emptyEditor, in: editorPlace, noText, or: "text")
        editor.text = model.text
        let hasNote = model.selection != nil
        tools.isVisible = hasNote
        undo.isSensitive = model.canUndo
        redo.isSensitive = model.canRedo
        let isUnsaved = model.hasUnsavedSelection
        saved.text = model.text.isEmpty && !isUnsaved ? "" : isUnsaved ? "Not saved yet" : "Saved"
        if shown.note != model.selection {
            let isNew = hasNote && model.text.isEmpty
            shown.note = model.selection
            if isNew { focusText() }
        }
        if wantsText, hasNote {
            wantsText = false
            focusText()
        }
    }

    private func show(_ empty: EmptyState?, in place: Stack, _ widget: EmptyPlace, or page: String) {
        if let empty {
            widget.show(
                icon: empty.iconName, title: empty.title, words: empty.words, offersButton: empty.offersNewNote)
        }
        place.page = empty == nil ? page : "empty"
    }

    /// Puts the keys into the text, at its end.
    func focusText() { editor.focusText(atEnd: true) }

    /// Puts the keys into the search.
    func focusSearch() { search.focus() }

    /// Puts the keys where a person begins.
    func focus() { if model.selection == nil { search.focus() } else { focusText() } }
}
