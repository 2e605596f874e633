// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A window without a title bar that asks for attention.
@MainActor public final class Window {
    private let window: UnsafeMutablePointer<GtkWidget>
    private var hasPainted = false

    /// Makes a window around `content`, not shown yet.
    ///
    /// - Parameters:
    ///   - close: Escape was pressed, or the window was asked to close; it stays until `close()`.
    ///   - visible: its first frame is on the screen.
    public init(
        title: String, content: Widget, close: @escaping @MainActor () -> Void,
        visible: @escaping @MainActor () -> Void
    ) {
        window = Widget.make(adw_window_get_type(), role: GTK_ACCESSIBLE_ROLE_ALERT_DIALOG) ?? adw_window_new()
        gtk_window_set_title(pointer, title)
        gtk_window_set_resizable(pointer, 0)
        gtk_window_set_modal(pointer, 1)
        // Without a title bar it is moved by any place of it.
        let handle: UnsafeMutablePointer<GtkWidget> = gtk_window_handle_new()
        gtk_window_handle_set_child(OpaquePointer(handle), content.widget)
        adw_window_set_content(UnsafeMutableRawPointer(window).assumingMemoryBound(to: AdwWindow.self), handle)
        closeByEscape(close)
        closeByRequest(close)
        connect(UnsafeMutableRawPointer(window), "map") { [self] in tellWhenPainted(visible) }
    }

    private var pointer: UnsafeMutablePointer<GtkWindow> {
        UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
    }

    /// Shows it in front of the others.
    public func present() { gtk_window_present(pointer) }

    /// Takes it away for good.
    public func close() { gtk_window_destroy(pointer) }

    /// What a screen reader says of it when it comes up.
    public func setAccessibleDescription(_ text: String) { Widget(window).setAccessibleDescription(text) }

    private func tellWhenPainted(_ visible: @escaping @MainActor () -> Void) {
        guard let clock = gtk_widget_get_frame_clock(window) else { return }
        // A frame that was under way when the window came up may have passed it by.
        let passed = gdk_frame_clock_get_frame_counter(clock)
        gdk_frame_clock_request_phase(clock, GDK_FRAME_CLOCK_PHASE_PAINT)
        connect(UnsafeMutableRawPointer(clock), "after-paint") { [self] in
            guard !hasPainted, gtk_widget_get_mapped(window) != 0,
                gdk_frame_clock_get_frame_counter(clock) != passed
            else { return }
            hasPainted = true
            visible()
        }
    }

    private func closeByEscape(_ close: @escaping @MainActor () -> Void) {
        guard let keys = gtk_event_controller_key_new() else { return }
        let handler: @convention(c) (gpointer?, guint, guint, guint, gpointer?) -> gboolean = { _, key, _, _, data in
            guard key == guint(GDK_KEY_Escape) else { return 0 }
            let action = Action.of(data)
            MainActor.assumeIsolated { action?.run() }
            return 1
        }
        // Before the field: an Escape there is the same Escape.
        gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
        g_signal_connect_data(
            UnsafeMutableRawPointer(keys), "key-pressed", unsafeBitCast(handler, to: GCallback.self),
            Action(close).kept, Action.drop, GConnectFlags(0))
        gtk_widget_add_controller(window, keys)
    }

    private func closeByRequest(_ close: @escaping @MainActor () -> Void) {
        let handler: @convention(c) (gpointer?, gpointer?) -> gboolean = { _, data in
            let action = Action.of(data)
            MainActor.assumeIsolated { action?.run() }
            return 1
        }
        g_signal_connect_data(
            UnsafeMutableRawPointer(window), "close-request", unsafeBitCast(handler, to: GCallback.self),
            Action(close).kept, Action.drop, GConnectFlags(0))
    }
}
