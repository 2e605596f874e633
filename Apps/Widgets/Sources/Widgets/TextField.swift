// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A field for one line of text. AdwEntryRow of libadwaita 1.2 does not tell assistive technology that it has the focus.
public final class TextField: Widget {
    /// Creates an empty field with an accessible name that calls `action` when Enter is pressed.
    public init(_ name: String, _ action: @escaping @MainActor () -> Void) {
        super.init(gtk_entry_new())
        setAccessibleName(name)
        connect(raw, "activate", action)
    }

    /// The text of the field.
    public var text: String {
        get { gtk_editable_get_text(opaque).map { String(cString: $0) } ?? "" }
        set { if newValue != text { gtk_editable_set_text(opaque, newValue) } }
    }

    /// The text shown in the empty field.
    public func setPlaceholder(_ text: String) {
        gtk_entry_set_placeholder_text(raw.assumingMemoryBound(to: GtkEntry.self), text)
    }

    /// Calls `action` after each change of the text.
    public func whenChanged(_ action: @escaping @MainActor () -> Void) { connect(raw, "changed", action) }
}
