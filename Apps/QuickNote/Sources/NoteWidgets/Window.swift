// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A key with Control, as shortcuts are written.
package struct Shortcut: Sendable {
    /// The key as GTK writes it: "<Control>n".
    package let accelerator: String
    /// What it does, in words.
    package let words: String
    let action: @MainActor @Sendable () -> Void

    /// Takes the parts.
    package init(_ accelerator: String, _ words: String, _ action: @escaping @MainActor @Sendable () -> Void) {
        self.accelerator = accelerator
        self.words = words
        self.action = action
    }
}

/// A window with a title bar of its own.
@MainActor package final class Window {
    private let window: UnsafeMutablePointer<GtkWidget>
    private var shortcuts: [Shortcut] = []
    private var afterPaint: [@MainActor () -> Void] = []

    /// Makes a window around `content`, not shown yet. It lives as long as the process.
    ///
    /// - Parameter close: the window was asked to close; it stays.
    package init(title: String, width: Int32, height: Int32, content: Widget, close: @escaping @MainActor () -> Void) {
        window = adw_window_new()
        gtk_window_set_title(pointer, title)
        gtk_window_set_default_size(pointer, width, height)
        adw_window_set_content(UnsafeMutableRawPointer(window).assumingMemoryBound(to: AdwWindow.self), content.widget)
        closeByRequest(close)
        connect(UnsafeMutableRawPointer(window), "map") { [weak self] in self?.followFrames() }
    }

    private var pointer: UnsafeMutablePointer<GtkWindow> {
        UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
    }

    /// Shows it in front of the others.
    package func present() { gtk_window_present(pointer) }

    /// Takes the keys away from everything in it.
    package func dropFocus() { gtk_window_set_focus(pointer, nil) }

    /// What a screen reader says of it when it comes up.
    package func setAccessibleDescription(_ text: String) { Widget(window).setAccessibleDescription(text) }

    /// Runs `action` whenever the window comes to the front.
    package func whenActive(_ action: @escaping @MainActor () -> Void) {
        observe(UnsafeMutableRawPointer(window), "is-active") { [weak self] in
            guard let self, gtk_window_is_active(pointer) != 0 else { return }
            action()
        }
    }

    /// Runs `action` once the next frame is on the screen.
    package func afterNextFrame(_ action: @escaping @MainActor () -> Void) {
        afterPaint.append(action)
        gtk_widget_queue_draw(window)
    }

    private func followFrames() {
        guard let clock = gtk_widget_get_frame_clock(window) else { return }
        connect(UnsafeMutableRawPointer(clock), "after-paint") { [weak self] in
            guard let self, gtk_widget_get_mapped(window) != 0 else { return }
            let actions = afterPaint
            afterPaint = []
            for action in actions { action() }
        }
    }

    // MARK: - Input

    /// Runs `action` at whatever a person does in the window: keys, pointer, touch.
    package func whenUsed(_ action: @escaping @MainActor () -> Void) {
        guard let controller = gtk_event_controller_legacy_new() else { return }
        let handler: @convention(c) (gpointer?, gpointer?, gpointer?) -> gboolean = { _, _, data in
            let action = Action.of(data)
            MainActor.assumeIsolated { action?.run() }
            return 0
        }
        gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE)
        attach(UnsafeMutableRawPointer(controller), "event", unsafeBitCast(handler, to: GCallback.self), action)
        gtk_widget_add_controller(window, controller)
    }

    /// Has those keys do what they say, wherever in the window the keys are.
    package func add(_ shortcuts: [Shortcut]) {
        self.shortcuts += shortcuts
        guard let controller = gtk_shortcut_controller_new() else { return }
        // Before the text, which has uses of its own for some of them.
        gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE)
        gtk_shortcut_controller_set_scope(controller, GTK_SHORTCUT_SCOPE_GLOBAL)
        let run: @convention(c) (UnsafeMutablePointer<GtkWidget>?, OpaquePointer?, gpointer?) -> gboolean = {
            _, _, data in
            let action = Action.of(data)
            MainActor.assumeIsolated { action?.run() }
            return 1
        }
        for shortcut in shortcuts {
            gtk_shortcut_controller_add_shortcut(
                controller,
                gtk_shortcut_new(
                    gtk_shortcut_trigger_parse_string(shortcut.accelerator),
                    gtk_callback_action_new(run, Action(shortcut.action).kept, Action.dropData)))
        }
        gtk_widget_add_controller(window, controller)
    }

    private func closeByRequest(_ close: @escaping @MainActor () -> Void) {
        let handler: @convention(c) (gpointer?, gpointer?) -> gboolean = { _, data in
            let action = Action.of(data)
            MainActor.assumeIsolated { action?.run() }
            return 1
        }
        attach(UnsafeMutableRawPointer(window), "close-request", unsafeBitCast(handler, to: GCallback.self), close)
    }

    // MARK: - The window of shortcuts

    /// Shows every shortcut in a window of its own.
    package func showShortcuts() {
        let rows = shortcuts.map { shortcut in
            """
            <child><object class="GtkShortcutsShortcut">
            <property name="accelerator">\(Self.escaped(shortcut.accelerator))</property>
            <property name="title">\(Self.escaped(shortcut.words))</property>
            </object></child>
            """
        }
        // Only a description in this form can make one, before GTK 4.14.
        let description = """
            <interface><object class="GtkShortcutsWindow" id="window"><property name="modal">1</property>
            <child><object class="GtkShortcutsSection"><property name="section-name">all</property>
            <property name="max-height">12</property>
            <child><object class="GtkShortcutsGroup"><property name="title">QuickNote</property>
            \(rows.joined())</object></child></object></child></object></interface>
            """
        guard let builder = gtk_builder_new_from_string(description, -1) else { return }
        defer { g_object_unref(UnsafeMutableRawPointer(builder)) }
        guard let object = gtk_builder_get_object(builder, "window") else { return }
        let shown = UnsafeMutableRawPointer(object).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_transient_for(shown, pointer)
        gtk_window_set_title(shown, "Keyboard Shortcuts")
        gtk_window_present(shown)
    }

    private static func escaped(_ text: String) -> String {
        guard let escaped = g_markup_escape_text(text, -1) else { return "" }
        defer { g_free(escaped) }
        return String(cString: escaped)
    }
}
