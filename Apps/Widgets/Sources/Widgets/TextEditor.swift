// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A text that a person writes.
public final class TextEditor: Widget {
    private let view: UnsafeMutablePointer<GtkTextView>
    private let buffer: UnsafeMutablePointer<GtkTextBuffer>
    private var isSetting = false
    /// What it holds, as far as it was set or told.
    private var known = ""

    /// An empty text that gives itself to `action` after each change a person makes, and what it was before.
    public init(_ name: String, _ action: @escaping @MainActor (_ text: String, _ before: String) -> Void) {
        let made: UnsafeMutablePointer<GtkWidget> = gtk_text_view_new()
        view = UnsafeMutableRawPointer(made).assumingMemoryBound(to: GtkTextView.self)
        buffer = gtk_text_view_get_buffer(view)
        super.init(gtk_scrolled_window_new())
        gtk_scrolled_window_set_child(opaque, made)
        gtk_text_view_set_wrap_mode(view, GTK_WRAP_WORD_CHAR)
        gtk_text_view_set_left_margin(view, 18)
        gtk_text_view_set_right_margin(view, 18)
        gtk_text_view_set_top_margin(view, 12)
        gtk_text_view_set_bottom_margin(view, 12)
        gtk_text_view_set_pixels_below_lines(view, 3)
        // Tab leads on to the next widget; a note needs none, and the keyboard alone must get out again.
        gtk_text_view_set_accepts_tab(view, 0)
        // Its history would keep texts beyond a lock; the app has one of its own.
        gtk_text_buffer_set_enable_undo(buffer, 0)
        Widget(made).setAccessibleName(name)
        expand(across: true, down: true)
        connect(UnsafeMutableRawPointer(buffer), "changed") { [weak self] in
            guard let self, !isSetting else { return }
            let (text, before) = (text, known)
            known = text
            action(text, before)
        }
    }

    /// The text. Setting it leaves the cursor where it was, as far as the text goes.
    public var text: String {
        get {
            var (start, end) = (GtkTextIter(), GtkTextIter())
            gtk_text_buffer_get_bounds(buffer, &start, &end)
            guard let text = gtk_text_buffer_get_text(buffer, &start, &end, 1) else { return "" }
            defer { g_free(text) }
            return String(cString: text)
        }
        set {
            // Two spellings of a character are equal, and not the same text.
            guard !newValue.utf8.elementsEqual(text.utf8) else { return }
            known = newValue
            isSetting = true
            defer { isSetting = false }
            var cursor = GtkTextIter()
            gtk_text_buffer_get_iter_at_mark(buffer, &cursor, gtk_text_buffer_get_insert(buffer))
            let offset = gtk_text_iter_get_offset(&cursor)
            // A character zero would end the text for C; no note has one that came from here.
            gtk_text_buffer_set_text(buffer, newValue, -1)
            gtk_text_buffer_get_iter_at_offset(buffer, &cursor, offset)
            gtk_text_buffer_place_cursor(buffer, &cursor)
        }
    }

    /// Takes the keys, with the cursor at the end of the text or where it is.
    public func focusText(atEnd: Bool) {
        if atEnd {
            var (start, end) = (GtkTextIter(), GtkTextIter())
            gtk_text_buffer_get_bounds(buffer, &start, &end)
            gtk_text_buffer_place_cursor(buffer, &end)
        }
        gtk_widget_grab_focus(UnsafeMutableRawPointer(view).assumingMemoryBound(to: GtkWidget.self))
    }
}
