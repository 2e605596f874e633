// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A button that opens a list, of which one entry is chosen.
public final class Choice: Widget {
    private var isSetting = false
    private(set) var entries: [String] = []

    /// Creates an empty list with an accessible name that calls `chosen` with the number of the entry that the user
    /// chooses.
    public init(_ name: String, _ chosen: @escaping @MainActor (Int) -> Void) {
        super.init(gtk_drop_down_new(nil, nil))
        setAccessibleName(name)
        // Assistive technology reads the button within, which GTK leaves without a name.
        if let button = gtk_widget_get_first_child(widget) {
            Widget(button).setAccessibleName(name)
            // A tool tip of this widget would also cover the entries, which are within it, too.
            Widget(button).setToolTip(name)
        }
        observe(raw, "selected") { [weak self] in
            guard let self, !isSetting, entries.indices.contains(selected) else { return }
            chosen(selected)
        }
    }

    /// The number of the chosen entry.
    public var selected: Int { Int(gtk_drop_down_get_selected(opaque)) }

    /// Shows these entries and chooses one without calling `chosen`.
    public func show(_ new: [String], selected: Int) {
        isSetting = true
        defer { isSetting = false }
        if new != entries {
            entries = new
            let strings = gtk_string_list_new(nil)
            for text in new { gtk_string_list_append(strings, text) }
            gtk_drop_down_set_model(opaque, strings)
            if let strings { g_object_unref(UnsafeMutableRawPointer(strings)) }
        }
        gtk_drop_down_set_selected(opaque, UInt32(clamping: selected))
    }
}

/// A bar that shows how much of a work is done.
public final class ProgressBar: Widget {
    /// Creates an empty bar with an accessible name.
    public init(_ name: String) {
        super.init(gtk_progress_bar_new())
        setAccessibleName(name)
        expand(across: true)
    }

    /// Shows a part of the whole, 0 to 1.
    public func show(_ part: Double) { gtk_progress_bar_set_fraction(opaque, min(1, max(0, part))) }

    /// Moves a block while the whole is not known.
    public func pulse() { gtk_progress_bar_pulse(opaque) }
}

/// Puts a text on the clipboard.
@MainActor public enum Clipboard {
    /// Replaces the contents of the clipboard.
    public static func put(_ text: String) {
        guard let display = gdk_display_get_default() else { return }
        gdk_clipboard_set_text(gdk_display_get_clipboard(display), text)
    }
}
