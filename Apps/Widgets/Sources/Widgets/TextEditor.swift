// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A text that the user edits.
public final class TextEditor: Widget {
    private let view: UnsafeMutablePointer<GtkTextView>
    private let buffer: UnsafeMutablePointer<GtkTextBuffer>
    private var isSetting = false
    /// The text as of the last assignment or callback.
    private var known = ""

    /// Creates an empty text that calls `action` after each change by the user, with the new and the previous text.
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
        // Tab moves the focus to the next widget, so that the text can be left with the keyboard alone.
        gtk_text_view_set_accepts_tab(view, 0)
        // GTK's undo history would retain text after a lock; the app has its own.
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

    /// The text. Setting it leaves the cursor at its position, if the new text is long enough.
    public var text: String {
        get {
            var (start, end) = (GtkTextIter(), GtkTextIter())
            gtk_text_buffer_get_bounds(buffer, &start, &end)
            guard let text = gtk_text_buffer_get_text(buffer, &start, &end, 1) else { return "" }
            defer { g_free(text) }
            return String(cString: text)
        }
        set {
            // Compares bytes, because strings that differ in Unicode normalisation are equal.
            guard !newValue.utf8.elementsEqual(text.utf8) else { return }
            known = newValue
            isSetting = true
            defer { isSetting = false }
            var cursor = GtkTextIter()
            gtk_text_buffer_get_iter_at_mark(buffer, &cursor, gtk_text_buffer_get_insert(buffer))
            let offset = gtk_text_iter_get_offset(&cursor)
            // A zero character would end a C string; notes written with this app contain none.
            gtk_text_buffer_set_text(buffer, newValue, -1)
            gtk_text_buffer_get_iter_at_offset(buffer, &cursor, offset)
            gtk_text_buffer_place_cursor(buffer, &cursor)
        }
    }

    /// Focuses the text, with the cursor at its end or where it is.
    public func focusText(atEnd: Bool) {
        if atEnd {
            var (start, end) = (GtkTextIter(), GtkTextIter())
            gtk_text_buffer_get_bounds(buffer, &start, &end)
            gtk_text_buffer_place_cursor(buffer, &end)
        }
        gtk_widget_grab_focus(UnsafeMutableRawPointer(view).assumingMemoryBound(to: GtkWidget.self))
    }
}
