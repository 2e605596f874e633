// SPDX-License-Identifier: Apache-2.0

import Foundation
import QuickNoteCore
import Widgets

/// The page of the unlocked notes: the list with its search, and the text beside it.
@MainActor final class NotesPage {
    let leaflet: Leaflet
    private let model: QuickNoteModel
    private let search: SearchField
    /// The search text as of the last synchronisation of field and model.
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
        // A widget can only be in one place, so each placeholder has its own button.
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
        // Explains the state "Saved".
        saved.setToolTip(
            "Each save is one atomic write: after a crash, either the previous or the new text exists.")
        tools = Box(.across, spacing: 6, [saved, undo, redo, delete])
        tools.setStyle("toolbar")
        editorPlace = Stack(["text": editor, "empty": noText])
        let left = Box(.down, spacing: 0, [search, listPlace])
        left.setWidth(260)
        let right = Box(.down, spacing: 0, [editorPlace, Line(), tools])
        right.setWidth(280)
        right.setStyle("view")
        leaflet = Leaflet(left, right)
        // The note is selected by then, because both tasks run on the main actor in order.
        open.action = { [weak self] in Task { self?.wantsText = true } }
        leaflet.whenFolded { [weak self] in self?.show() }
    }

    /// Whether the window is too narrow for list and text, and shows the text.
    var coversList: Bool { leaflet.isFolded && model.selection != nil }

    /// Returns to the list in a narrow window.
    func showList() {
        let model = model
        Task { await model.select(nil) }
    }

    /// Whether to move the focus to the text when the next note is drawn.
    private var wantsText = false { didSet { if wantsText { show() } } }

    /// Draws the notes of the model; none while they are locked.
    func show() {
        let rows = model.notes.map {
            RowList.Row(
                id: $0.id.uuidString, title: $0.title, time: $0.modified.timeIntervalSinceReferenceDate,
                mark: $0.isUnsaved ? "Not saved · " : "")
        }
        list.show(rows, selected: model.selection?.uuidString)
        // The field reports typed text with a delay; only a change from elsewhere may replace its content.
        if told.search != model.search {
            told.search = model.search
            search.text = model.search
        }
        search.isSensitive = !model.isLocked
        // When there is no note at all, and list and text are both visible, only the text shows the placeholder.
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

    /// Moves the focus to the end of the text.
    func focusText() { editor.focusText(atEnd: true) }

    /// Moves the focus to the search.
    func focusSearch() { search.focus() }

    /// Moves the focus to the text if a note is selected, else to the search.
    func focus() { if model.selection == nil { search.focus() } else { focusText() } }
}
