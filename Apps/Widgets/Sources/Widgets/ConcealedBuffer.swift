// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// The class `LatchkeyConcealedBuffer`, derived from `GtkEntryBuffer`: a buffer that says to GTK that its text is as many
/// dots as characters were typed.
///
/// GTK 4.8 gives the text of each password field in clear to a program that asks for it on the accessibility bus
/// (`GetText`), and copies a text wherever it is needed. Here GTK never has the characters: they are in a
/// ``ConcealedText``, and only ``PasswordField`` and the drawing of ``RevealingField`` read them.
enum ConcealedBuffer {
    private static let key = "latchkey-concealed-text"
    private static let type = g_type_register_static_simple(
        gtk_entry_buffer_get_type(), "LatchkeyConcealedBuffer", guint(MemoryLayout<GtkEntryBufferClass>.size),
        { data, _ in
            guard let made = data?.assumingMemoryBound(to: GtkEntryBufferClass.self) else { return }
            made.pointee.get_text = { buffer, bytes in
                let count = ConcealedBuffer.text(of: buffer)?.count ?? 0
                bytes?.pointee = gsize(count * ConcealedBuffer.dotBytes)
                return ConcealedBuffer.dots(count)
            }
            made.pointee.get_length = { buffer in
                guint(ConcealedBuffer.text(of: buffer)?.count ?? 0)
            }
            made.pointee.insert_text = { buffer, position, characters, count in
                characters.map { ConcealedBuffer.insert(buffer, position, $0, count) } ?? 0
            }
            made.pointee.delete_text = { buffer, position, count in
                ConcealedBuffer.delete(buffer, position, count)
            }
            // Runs after the handlers of the signal, which see the text as it was.
            made.pointee.deleted_text = { buffer, position, count in
                ConcealedBuffer.text(of: buffer)?.delete(Int(count), at: Int(position))
                // The method of GtkEntryBuffer says so; without it the field would not be drawn again.
                guard let object = buffer.map({ UnsafeMutableRawPointer($0).assumingMemoryBound(to: GObject.self) })
                else { return }
                g_object_notify(object, "text")
                g_object_notify(object, "length")
            }
        }, guint(MemoryLayout<GtkEntryBuffer>.size), nil, GTypeFlags(rawValue: 0))

    /// Gives a password entry of GTK such a buffer.
    static func use(_ text: ConcealedText, in entry: OpaquePointer) {
        guard let field = gtk_editable_get_delegate(entry), let made = g_object_new_with_properties(type, 0, nil, nil)
        else {
            // Does not happen: GLib ends the process when it has no memory. A field without this buffer must not be shown.
            fatalError("GTK made no buffer for a password field.")
        }
        g_object_set_data_full(
            made, key, Unmanaged.passRetained(text).toOpaque(),
            { data in
                if let data { Unmanaged<ConcealedText>.fromOpaque(data).release() }
            })
        gtk_text_set_buffer(
            UnsafeMutablePointer(field), UnsafeMutableRawPointer(made).assumingMemoryBound(to: GtkEntryBuffer.self))
        g_object_unref(made)
    }

    private static func text(of buffer: UnsafeMutablePointer<GtkEntryBuffer>?) -> ConcealedText? {
        guard let buffer else { return nil }
        let data = g_object_get_data(UnsafeMutableRawPointer(buffer).assumingMemoryBound(to: GObject.self), key)
        return data.map { Unmanaged<ConcealedText>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func insert(
        _ buffer: UnsafeMutablePointer<GtkEntryBuffer>?, _ position: guint, _ characters: UnsafePointer<CChar>,
        _ count: guint
    ) -> guint {
        guard let text = text(of: buffer) else { return 0 }
        let position = min(Int(position), text.count)
        let inserted = text.insert(characters, Int(count), at: position)
        guard inserted > 0 else { return 0 }
        gtk_entry_buffer_emit_inserted_text(buffer, guint(position), dots(inserted), guint(inserted))
        return guint(inserted)
    }

    private static func delete(
        _ buffer: UnsafeMutablePointer<GtkEntryBuffer>?, _ position: guint, _ count: guint
    ) -> guint {
        guard let text = text(of: buffer), position < text.count else { return 0 }
        let deleted = min(Int(count), text.count - Int(position))
        if deleted > 0 { gtk_entry_buffer_emit_deleted_text(buffer, position, guint(deleted)) }
        return guint(deleted)
    }

    // MARK: - Dots

    private static let dotBytes = "•".utf8.count
    /// As many dots as a text can have characters, and a zero byte; never freed.
    private nonisolated(unsafe) static let allDots: UnsafePointer<CChar> = {
        let bytes = Array(String(repeating: "•", count: ConcealedText.capacity).utf8CString)
        let kept = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        kept.initialize(from: bytes, count: bytes.count)
        return UnsafePointer(kept)
    }()

    private static func dots(_ count: Int) -> UnsafePointer<CChar> {
        allDots + (ConcealedText.capacity - count) * dotBytes
    }
}
