// SPDX-License-Identifier: Apache-2.0

import CAdwaita
import Glibc

/// A button with a title in plain text.
public final class Button: Widget {
    private let label: OpaquePointer

    /// A button that does `action` when it is pressed, by Space and Enter too.
    public init(styles: [String] = [], _ action: @escaping @MainActor () -> Void) {
        let text: UnsafeMutablePointer<GtkWidget> = gtk_label_new(nil)
        label = OpaquePointer(text)
        super.init(gtk_button_new())
        gtk_label_set_ellipsize(label, PANGO_ELLIPSIZE_END)
        gtk_label_set_max_width_chars(label, 1)
        gtk_widget_set_hexpand(text, 1)
        gtk_button_set_child(raw.assumingMemoryBound(to: GtkButton.self), text)
        for style in styles { setStyle(style) }
        connect(raw, "clicked", action)
    }

    /// What stands on it.
    public var title: String {
        get { gtk_label_get_text(label).map { String(cString: $0) } ?? "" }
        set {
            gtk_label_set_text(label, newValue)
            setAccessibleName(newValue)
        }
    }

    /// Shows a title, or no button.
    public func show(_ title: String?) {
        self.title = title ?? ""
        isVisible = title != nil
    }
}

/// Takes a passcode: shows dots, keeps the text in memory of its own that is not swapped out (GtkPasswordEntryBuffer).
public final class PasscodeField: Widget {
    /// An empty field that does `action` when Enter is pressed in it.
    public init(name: String, _ action: @escaping @MainActor () -> Void) {
        super.init(gtk_password_entry_new())
        // No button that shows the text: shown text has an undo history.
        gtk_password_entry_set_show_peek_icon(opaque, 0)
        setAccessibleName(name)
        connect(raw, "activate", action)
    }

    /// Whether nothing is typed.
    public var isEmpty: Bool { gtk_editable_get_text(opaque).map { $0.pointee == 0 } ?? true }

    /// Lends what was typed and wipes it.
    public func take(_ body: (UnsafeRawBufferPointer) -> Void) {
        guard let text = gtk_editable_get_text(opaque) else { return }
        body(UnsafeRawBufferPointer(start: text, count: strlen(text)))
        clear()
    }

    /// Wipes what was typed.
    public func clear() {
        guard let text = gtk_editable_get_text(opaque) else { return }
        let count = strlen(text)
        gtk_editable_set_text(opaque, "")
        // The buffer moves its end to its start and leaves the rest as it was until the field goes away. It is the same
        // memory still: emptying does not make it smaller.
        if count > 0, gtk_editable_get_text(opaque) == text {
            explicit_bzero(UnsafeMutableRawPointer(mutating: text), count)
        }
    }
}
