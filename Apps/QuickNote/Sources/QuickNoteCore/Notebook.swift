// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The notes while they are open: a value that exists only between unlocking and locking, and takes every text with it
/// when it goes.
struct Notebook {
    /// An open note and what is known of its item.
    struct Entry {
        var note: Note
        /// nil for a note that was never saved.
        var revision: Data?
        /// Whether the text differs from what is saved.
        var isDirty = false
        var history = UndoHistory()
    }

    let key: NoteKey
    var entries: [Entry] = []
    /// Notes that the key does not open: kept, and counted.
    var unreadable = 0
    var selection: UUID?
    var search = ""
    /// The note that was deleted last, for undo.
    var deleted: Note?

    func index(of id: UUID?) -> Int? { id.flatMap { id in entries.firstIndex { $0.note.id == id } } }

    var selected: Entry? { index(of: selection).map { entries[$0] } }

    /// Notes that match the search, changed last first.
    var shown: [Entry] {
        entries.filter { $0.note.matches(search) }.sorted { first, second in
            guard first.note.modified == second.note.modified else { return first.note.modified > second.note.modified }
            return first.note.id.uuidString > second.note.id.uuidString
        }
    }

    var isDirty: Bool { entries.contains(where: \.isDirty) }

    /// Takes over what lies in the keychain; unsaved texts of this window stay.
    mutating func merge(_ sealed: [NoteStore.Sealed]) {
        unreadable = 0
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
                unreadable += 1
                continue
            }
            merged.append(Entry(note: note, revision: item.revision))
        }
        let ids = Set(sealed.map(\.id))
        // New notes, and texts whose item another window deleted.
        merged += entries.filter { !ids.contains($0.note.id) && ($0.isDirty || $0.revision == nil) }
        entries = merged
        if index(of: selection) == nil { selection = nil }
    }

    /// What is written for a note now.
    func sealed(_ note: Note) throws(QuickNoteError) -> NoteStore.Sealed {
        let excess = note.text.utf8.count - Note.textBytes
        guard excess <= 0 else { throw .noteTooLong(bytes: excess) }
        return NoteStore.Sealed(
            id: note.id, revision: withUnsafeBytes(of: UUID().uuid) { Data($0) },
            bytes: try NoteCipher.seal(note.encoded, id: note.id, key: key))
    }

    // MARK: - Across a lock

    /// A text that could not be saved before locking: sealed, of any length.
    struct Kept: Sendable {
        var id: UUID
        var revision: Data?
        var bytes: Data
    }

    /// The texts that are not saved, sealed.
    func kept() throws(QuickNoteError) -> [Kept] {
        var kept: [Kept] = []
        for entry in entries where entry.isDirty {
            let bytes = try NoteCipher.seal(entry.note.encoded, id: entry.note.id, key: key)
            kept.append(Kept(id: entry.note.id, revision: entry.revision, bytes: bytes))
        }
        return kept
    }

    /// Takes texts back that were kept, as changes that are still to be saved.
    mutating func take(_ kept: [Kept]) {
        for item in kept {
            guard let data = NoteCipher.open(item.bytes, id: item.id, key: key),
                let note = Note(id: item.id, encoded: data)
            else { continue }
            entries.append(Entry(note: note, revision: item.revision, isDirty: true))
        }
    }
}
