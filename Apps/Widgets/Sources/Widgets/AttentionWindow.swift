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

    /// Brings the window to the front.
    ///
    /// - Parameter startup: a startup identifier or activation token of the desktop; may be empty.
    public func raise(startup: String) {
        if !startup.isEmpty { gtk_window_set_startup_id(pointer, startup) }
        present()
    }

    /// Passes a key that types a character to the field, wherever the focus is within the window, unless the widget with the
    /// focus reacts to the key. The focus moves to the field.
    ///
    /// - Parameter field: the field that accepts characters now; nil if none does.
    public func typeInto(_ field: @escaping @MainActor () -> PasswordField?) {
        guard let keys = gtk_event_controller_key_new() else { return }
        let typed = Typed(field)
        let handler: @convention(c) (gpointer?, guint, guint, GdkModifierType, gpointer?) -> gboolean = {
            controller, key, _, state, data in
            let commands = [GDK_CONTROL_MASK, GDK_ALT_MASK, GDK_SUPER_MASK]
            let isCommand = commands.contains { state.rawValue & $0.rawValue != 0 }
            let character = gdk_keyval_to_unicode(key)
            // Space and control characters mean something else on a button.
            guard !isCommand, character > 0x20, character != 0x7f, let controller, let data else { return 0 }
            let keys = OpaquePointer(controller)
            return MainActor.assumeIsolated {
                let typed = Unmanaged<Typed>.fromOpaque(data).takeUnretainedValue()
                guard let field = typed.field(), !field.hasFocusInside else { return 0 }
                field.focusAtEnd()
                return field.take(keyOf: keys)
            }
        }
        g_signal_connect_data(
            UnsafeMutableRawPointer(keys), "key-pressed", unsafeBitCast(handler, to: GCallback.self),
            Unmanaged.passRetained(typed).toOpaque(),
            { data, _ in
                if let data { Unmanaged<Typed>.fromOpaque(data).release() }
            }, GConnectFlags(0))
        gtk_widget_add_controller(window, keys)
    }

    /// What `typeInto` passes to C.
    private final class Typed: Sendable {
        let field: @MainActor () -> PasswordField?
        init(_ field: @escaping @MainActor () -> PasswordField?) { self.field = field }
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
