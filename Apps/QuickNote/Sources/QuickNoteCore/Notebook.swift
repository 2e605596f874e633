// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The unlocked notes: a value that exists only between unlocking and locking, and contains every text, so that
/// releasing it releases them all.
struct Notebook {
    /// A note and the state of its item.
    struct Entry {
        var note: Note
        /// The revision of the item; nil when the note was never saved.
        var revision: Data?
        /// Whether the text differs from the saved one.
        var isDirty = false
        var history = UndoHistory()
    }

    let key: NoteKey
    var entries: [Entry] = []
    /// Number of notes that the key does not open; they are not deleted.
    var unreadable: Int { unopened.count }
    /// Their revisions.
    var unopened: [UUID: Data] = [:]
    var selection: UUID?
    var search = ""
    /// The last deleted note, for undo.
    var deleted: Note?

    func index(of id: UUID?) -> Int? { id.flatMap { id in entries.firstIndex { $0.note.id == id } } }

    var selected: Entry? { index(of: selection).map { entries[$0] } }

    /// Notes that match the search, most recently changed first.
    var shown: [Entry] {
        entries.filter { $0.note.matches(search) }.sorted { first, second in
            guard first.note.modified == second.note.modified else { return first.note.modified > second.note.modified }
            return first.note.id.uuidString > second.note.id.uuidString
        }
    }

    var isDirty: Bool { entries.contains(where: \.isDirty) }

    /// Whether these are the revisions of the saved notes.
    func isUpToDate(_ revisions: [UUID: Data]) -> Bool {
        var known = unopened
        for entry in entries { known[entry.note.id] = entry.revision }
        return known == revisions
    }

    /// Adopts the notes of the keychain; unsaved texts of this window remain.
    mutating func merge(_ sealed: [NoteStore.Sealed]) {
        unopened = [:]
        var merged: [Entry] = []
        for item in sealed {
            let known = index(of: item.id).map { entries[$0] }
            if let known, known.isDirty || known.revision == item.revision {
                merged.append(known)
                continue
            }
            guard let data = NoteCipher.open(item.bytes, id: item.id, key: key),
                let note = Note(id: item.id, encoded: data)
            else {
                unopened[item.id] = item.revision
                continue
            }
            merged.append(Entry(note: note, revision: item.revision))
        }
        let ids = Set(sealed.map(\.id))
        // Keeps new notes, and unsaved texts whose item another window has deleted.
        merged += entries.filter { !ids.contains($0.note.id) && ($0.isDirty || $0.revision == nil) }
        entries = merged
        if index(of: selection) == nil { selection = nil }
    }

    /// Seals a note with a new revision, for saving. Throws when its text is too long.
    func sealed(_ note: Note) throws(QuickNoteError) -> NoteStore.Sealed {
        let excess = note.text.utf8.count - Note.textBytes
        guard excess <= 0 else { throw .noteTooLong(bytes: excess) }
        return NoteStore.Sealed(
            id: note.id, revision: withUnsafeBytes(of: UUID().uuid) { Data($0) },
            bytes: try NoteCipher.seal(note.encoded, id: note.id, key: key))
    }

    // MARK: - Unsaved texts while locked

    /// A text that could not be saved before locking: sealed, without a limit of its length.
    struct Kept: Sendable {
        var id: UUID
        var revision: Data?
        var bytes: Data
    }

    /// Seals the unsaved texts.
    func kept() throws(QuickNoteError) -> [Kept] {
        var kept: [Kept] = []
        for entry in entries where entry.isDirty {
            let bytes = try NoteCipher.seal(entry.note.encoded, id: entry.note.id, key: key)
            kept.append(Kept(id: entry.note.id, revision: entry.revision, bytes: bytes))
        }
        return kept
    }

    /// Restores unsaved texts, which are still to be saved.
    mutating func take(_ kept: [Kept]) {
        for item in kept {
            guard let data = NoteCipher.open(item.bytes, id: item.id, key: key),
                let note = Note(id: item.id, encoded: data)
            else { continue }
            entries.append(Entry(note: note, revision: item.revision, isDirty: true))
        }
    }
}
