// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A window without a title bar that asks for attention.
public final class AttentionWindow: Window {
    /// Creates a window that is not shown yet.
    ///
    /// - Parameter close: called when Escape is pressed or the user asks to close the window, which stays open until
    ///   `close()`.
    public init(title: String, content: Widget, close: @escaping @MainActor () -> Void) {
        // Without a title bar, the window can be dragged at any point.
        let handle: UnsafeMutablePointer<GtkWidget> = gtk_window_handle_new()
        gtk_window_handle_set_child(OpaquePointer(handle), content.widget)
        let made = Widget.make(adw_window_get_type(), role: GTK_ACCESSIBLE_ROLE_ALERT_DIALOG)
        super.init(made ?? adw_window_new(), title: title, content: handle, close: close)
        gtk_window_set_resizable(pointer, 0)
        gtk_window_set_modal(pointer, 1)
        closeByEscape(close)
    }

    /// Destroys the window.
    public func close() { gtk_window_destroy(pointer) }

    /// Sets the text that a screen reader says when the window appears.
    public func setAccessibleDescription(_ text: String) { Widget(window).setAccessibleDescription(text) }

    private func closeByEscape(_ close: @escaping @MainActor () -> Void) {
        guard let keys = gtk_event_controller_key_new() else { return }
        let handler: @convention(c) (gpointer?, guint, guint, guint, gpointer?) -> gboolean = { _, key, _, _, data in
            guard key == guint(GDK_KEY_Escape) else { return 0 }
            let action = Action.of(data)
            MainActor.assumeIsolated { action?.run() }
            return 1
        }
        // The capture phase gives Escape the same effect while a field has the focus.
        gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
        attach(UnsafeMutableRawPointer(keys), "key-pressed", unsafeBitCast(handler, to: GCallback.self), close)
        gtk_widget_add_controller(window, keys)
    }
}
